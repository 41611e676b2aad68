# run: FuseTIR
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def scale(A: T.Buffer((T.int64(8),), "float32"), s: T.int64, C: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(8)):
            with T.sblock("scale"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(A[vi])
                T.writes(C[vi])
                C[vi] = A[vi] * T.Cast("float32", s)

    @T.prim_func(private=True, s_tir=True)
    def incs(s: T.int64, A: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(8)):
            with T.sblock("incs"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(A[vi])
                T.writes(A[vi])
                A[vi] = A[vi] + T.Cast("float32", s)

    @R.function(private=True)
    def fused(x: R.Tensor((8,), dtype="float32"), s: R.Prim("int64"), t: R.Prim("int64"), y: R.Tensor((8,), dtype="float32")) -> R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            d = R.call_tir(cls.scale, (x, t,), out_ty=R.Tensor((8,), dtype="float32"))
            e = R.call_tir_inplace(cls.incs, (s, y,), inplace_indices=[1], out_ty=R.Tensor((8,), dtype="float32"))
            R.output(d, e)
        return (d, e)

    @R.function
    def main(x: R.Tensor((8,), dtype="float32"), y: R.Tensor((8,), dtype="float32"), s: R.Prim("int64")) -> R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")):
        cls = Module
        with R.dataflow():
            g = cls.fused(x, s, s, y)
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
    def fused(x: T.Buffer((T.int64(8),), "float32"), s: T.int64, t: T.int64, y: T.Buffer((T.int64(8),), "float32"), C_intermediate: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(T.int64(8)):
            with T.sblock("scale"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(x[vi])
                T.writes(C_intermediate[vi])
                C_intermediate[vi] = x[vi] * T.Cast("float32", t)
        for i in range(T.int64(8)):
            with T.sblock("incs"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(y[vi])
                T.writes(y[vi])
                y[vi] = y[vi] + T.Cast("float32", s)

    @R.function
    def main(x: R.Tensor((8,), dtype="float32"), y: R.Tensor((8,), dtype="float32"), s: T.int64) -> R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")):
        cls = Module
        with R.dataflow():
            g: R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")) = R.call_tir_inplace(cls.fused, (x, s, s, y), out_ty=[R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")], inplace_indices=[-1, 3])
            R.output(g)
        return g
