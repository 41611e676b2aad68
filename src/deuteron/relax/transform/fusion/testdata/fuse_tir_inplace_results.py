# run: FuseTIR
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def inc(A: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(8)):
            with T.sblock("inc"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(A[vi])
                T.writes(A[vi])
                A[vi] = A[vi] + T.float32(1)

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
    def fused(s: R.Prim("int64"), x: R.Tensor((8,), dtype="float32"), y: R.Tensor((8,), dtype="float32")) -> R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            e = R.call_tir_inplace(cls.incs, (s, x,), inplace_indices=[1], out_ty=R.Tensor((8,), dtype="float32"))
            h = R.call_tir_inplace(cls.inc, (y,), inplace_indices=[0], out_ty=R.Tensor((8,), dtype="float32"))
            R.output(h, e)
        return h, e

    @R.function
    def main(x: R.Tensor((8,), dtype="float32"), y: R.Tensor((8,), dtype="float32"), s: R.Prim("int64")) -> R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")):
        cls = Module
        with R.dataflow():
            g = cls.fused(s, x, y)
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
    def fused(s: T.int64, x: T.Buffer((T.int64(8),), "float32"), y: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(T.int64(8)):
            with T.sblock("incs"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(x[vi])
                T.writes(x[vi])
                x[vi] = x[vi] + T.Cast("float32", s)
        for i in range(T.int64(8)):
            with T.sblock("inc"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(y[vi])
                T.writes(y[vi])
                y[vi] = y[vi] + T.float32(1.0)

    @R.function
    def main(x: R.Tensor((8,), dtype="float32"), y: R.Tensor((8,), dtype="float32"), s: T.int64) -> R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")):
        cls = Module
        with R.dataflow():
            g: R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")) = R.call_tir_inplace(cls.fused, (s, x, y), out_ty=[R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")], inplace_indices=[2, 1])
            R.output(g)
        return g
