# run: ComputePrimValue
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Prim("int64"):
        n = T.int64()
        a = R.prim_value(n * 3)
        b = R.prim_value(n)
        if R.prim_value(n % 2 == 0):
            c = R.prim_value(n // 2)
        else:
            c = R.prim_value(n * 3 + 1)
        return c
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def compute_symbolic_expr(n: T.int64) -> T.int64:
        T.func_attr({"tirx.is_host_func": True})
        return n * T.int64(3)

    @T.prim_func(private=True, s_tir=True)
    def compute_symbolic_expr1(n: T.int64) -> T.bool:
        T.func_attr({"tirx.is_host_func": True})
        return n % T.int64(2) == T.int64(0)

    @T.prim_func(private=True, s_tir=True)
    def compute_symbolic_expr2(n: T.int64) -> T.int64:
        T.func_attr({"tirx.is_host_func": True})
        return n // T.int64(2)

    @T.prim_func(private=True, s_tir=True)
    def compute_symbolic_expr3(n: T.int64) -> T.int64:
        T.func_attr({"tirx.is_host_func": True})
        return n * T.int64(3) + T.int64(1)

    @R.function
    def main(x: R.Tensor((n, 3), dtype="float32")) -> T.int64:
        cls = Module
        a: T.int64 = cls.compute_symbolic_expr(n)
        b: T.int64 = n
        gv: T.bool = cls.compute_symbolic_expr1(n)
        if gv:
            gv1: T.int64 = cls.compute_symbolic_expr2(n)
            c: T.int64 = gv1
        else:
            gv2: T.int64 = cls.compute_symbolic_expr3(n)
            c: T.int64 = gv2
        return c
