# run: BindSymbolicVars(binding_map={n: 4}, func_name=main)
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def k(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.sblock("b"):
                v = T.axis.spatial(n, i)
                B[v] = T.exp(A[v])
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        n=T.int64()
        m=T.int64()
        k = T.int64()
        cls=Module
        a = R.call_tir(cls.k, (x,), out_ty=R.Tensor((n,), "float32"))
        b = R.match_cast(y, R.Tensor((n,), "float32"))
        c = R.match_cast(y, R.Tensor((k,), "float32"))
        d = cls.f(x)
        return (a, b, c, d)
    @R.function(private=True)
    def f(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return x
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
    def k(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32")):
        # with T.sblock("root"):
        for i in range(n):
            with T.sblock("b"):
                v = T.axis.spatial(n, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = T.exp(A[v])

    @R.function(private=True)
    def f(x: R.Tensor((n,), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
        return x

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), y: R.Tensor((m,), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32"), R.Tensor(dtype="float32", ndim=1), R.Tensor((4,), dtype="float32")):
        k = T.int64()
        cls = Module
        a = R.call_tir(cls.k, (x,), out_ty=R.Tensor((4,), dtype="float32"))
        b: R.Tensor((4,), dtype="float32") = R.match_cast(y, R.Tensor((4,), dtype="float32"))
        c: R.Tensor((k,), dtype="float32") = R.match_cast(y, R.Tensor((k,), dtype="float32"))
        d: R.Tensor((4,), dtype="float32") = cls.f(x)
        return (a, b, c, d)
