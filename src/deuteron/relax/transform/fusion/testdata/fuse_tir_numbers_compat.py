# run: FuseTIR
# config: tvm_compat=true
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def k(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        T.func_attr({"tirx.noalias": True})
        for i in range(n):
            with T.sblock("add"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi])
                T.writes(C[vi])
                C[vi] = A[vi] / T.Cast("float32", n) + T.Cast("float32", n * T.int64(2) + vi) + T.Select(n > T.int64(4), T.float32(1), T.Cast("float32", T.Cast("int32", n)))
    @R.function(private=True)
    def fused(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            d = R.call_tir(cls.k, (x,), out_ty=R.Tensor((8,), dtype="float32"))
            e = R.call_tir(cls.k, (d,), out_ty=R.Tensor((8,), dtype="float32"))
            R.output(e)
        return e
    @R.function
    def main(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        with R.dataflow():
            g: R.Tensor((8,), dtype="float32") = cls.fused(x)
            R.output(g)
        return g
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused(x: T.Buffer((T.int64(8),), "float32"), C_intermediate_1: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        C_intermediate = T.sblock_alloc_buffer((T.int64(8),))
        for i in range(T.int64(8)):
            with T.sblock("add"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(x[vi])
                T.writes(C_intermediate[vi])
                C_intermediate[vi] = x[vi] / T.Cast("float32", T.int64(8)) + T.Cast("float32", T.Mul(T.int64(8), T.int64(2)) + vi) + T.Select(T.GT(T.int64(8), T.int64(4)), T.float32(1.0), T.Cast("float32", T.Cast("int32", T.int64(8))))
        for i in range(T.int64(8)):
            with T.sblock("add1"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(C_intermediate[vi])
                T.writes(C_intermediate_1[vi])
                C_intermediate_1[vi] = C_intermediate[vi] / T.Cast("float32", T.int64(8)) + T.Cast("float32", T.Mul(T.int64(8), T.int64(2)) + vi) + T.Select(T.GT(T.int64(8), T.int64(4)), T.float32(1.0), T.Cast("float32", T.Cast("int32", T.int64(8))))

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        with R.dataflow():
            g = R.call_tir(cls.fused, (x,), out_ty=R.Tensor((8,), dtype="float32"))
            R.output(g)
        return g
