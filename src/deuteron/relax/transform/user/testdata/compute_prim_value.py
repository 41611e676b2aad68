# run: ComputePrimValue
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            a = R.prim_value(n * m)
            b = R.call_pure_packed("foo", x, R.prim_value(n * m + 1), R.prim_value(n), R.prim_value(5), R.prim_value(n * m), ty_args=[R.Tensor((n, m), "float32")])
            gv = (a, b, R.prim_value(m - n))
            R.output(gv)
        return gv

    @R.function
    def branches(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        if R.prim_value(n > 5):
            y = R.exp(x)
        else:
            y = R.negative(x)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def compute_symbolic_expr(n: T.int64, m: T.int64) -> T.int64:
        T.func_attr({"tirx.is_host_func": True})
        return n * m

    @T.prim_func(private=True, s_tir=True)
    def compute_symbolic_expr1(n: T.int64, m: T.int64) -> T.int64:
        T.func_attr({"tirx.is_host_func": True})
        return n * m + T.int64(1)

    @T.prim_func(private=True, s_tir=True)
    def compute_symbolic_expr2(m: T.int64, n: T.int64) -> T.int64:
        T.func_attr({"tirx.is_host_func": True})
        return m - n

    @T.prim_func(private=True, s_tir=True)
    def compute_symbolic_expr3(n: T.int64) -> T.bool:
        T.func_attr({"tirx.is_host_func": True})
        return n > T.int64(5)

    @R.function
    def branches(x: R.Tensor((n,), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
        cls = Module
        gv: T.bool = cls.compute_symbolic_expr3(n)
        if gv:
            y_then: R.Tensor((n,), dtype="float32") = R.exp(x)
            y: R.Tensor((n,), dtype="float32") = y_then
        else:
            y_else: R.Tensor((n,), dtype="float32") = R.negative(x)
            y: R.Tensor((n,), dtype="float32") = y_else
        return y

    @R.function
    def main(x: R.Tensor((n, m), dtype="float32")) -> R.Tuple(T.int64, R.Tensor((n, m), dtype="float32"), T.int64):
        cls = Module
        with R.dataflow():
            a: T.int64 = cls.compute_symbolic_expr(n, m)
            lv: T.int64 = cls.compute_symbolic_expr1(n, m)
            lv1: T.int64 = cls.compute_symbolic_expr(n, m)
            b: R.Tensor((n, m), dtype="float32") = R.call_pure_packed("foo", x, lv, n, 5, lv1, ty_args=(R.Tensor((n, m), dtype="float32"),))
            lv2: T.int64 = cls.compute_symbolic_expr2(m, n)
            gv: R.Tuple(T.int64, R.Tensor((n, m), dtype="float32"), T.int64) = a, b, lv2
            R.output(gv)
        return gv
