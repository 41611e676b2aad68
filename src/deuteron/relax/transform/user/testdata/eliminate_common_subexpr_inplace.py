# run: EliminateCommonSubexpr
# a and b are overwritten, each by its own call.
@I.ir_module
class Module:
    @T.prim_func(private=True,s_tir=True)
    def ex(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                B[v] = T.exp(A[v])
    @T.prim_func(private=True,s_tir=True)
    def inc(A: T.Buffer((T.int64(4),), "float32")):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                A[v] = T.exp(A[v])
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.ex, (x,), out_ty=R.Tensor((4,), "float32"))
            b = R.call_tir(cls.ex, (x,), out_ty=R.Tensor((4,), "float32"))
            c = R.call_tir_inplace(cls.inc, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            d = R.call_tir_inplace(cls.inc, (b,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            e = cls.f(c)
            f = cls.f(c)
            R.output(e, f, d)
        return (e, f, d)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def ex(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = T.exp(A[v])

    @T.prim_func(private=True, s_tir=True)
    def inc(A: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(A[v])
                A[v] = T.exp(A[v])

    @R.function(private=True)
    def f(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        return x

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.ex, (x,), out_ty=R.Tensor((4,), dtype="float32"))
            b = R.call_tir(cls.ex, (x,), out_ty=R.Tensor((4,), dtype="float32"))
            c: R.Tensor((4,), dtype="float32") = R.call_tir_inplace(cls.inc, (a,), out_ty=R.Tensor((4,), dtype="float32"), inplace_indices=[0])
            d: R.Tensor((4,), dtype="float32") = R.call_tir_inplace(cls.inc, (b,), out_ty=R.Tensor((4,), dtype="float32"), inplace_indices=[0])
            e: R.Tensor((4,), dtype="float32") = cls.f(c)
            f: R.Tensor((4,), dtype="float32") = e
            R.output(d, e, f)
        return (e, f, d)
