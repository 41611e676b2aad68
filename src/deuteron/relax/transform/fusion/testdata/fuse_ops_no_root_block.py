# run: FuseOps
# A kernel without a root block cannot be merged: the others fuse around it.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def exp(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 0})
        for i in range(T.int64(4)):
            with T.sblock("B"):
                v = T.axis.spatial(T.int64(4), i)
                B[v] = T.exp(A[v])

    @T.prim_func(private=True)
    def loops(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 0})
        for i in range(T.int64(4)):
            B[i] = A[i] + T.float32(1.0)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.exp, (x,), out_ty=R.Tensor((4,), "float32"))
            b = R.call_tir(cls.exp, (a,), out_ty=R.Tensor((4,), "float32"))
            c = R.call_tir(cls.loops, (b,), out_ty=R.Tensor((4,), "float32"))
            d = R.call_tir(cls.exp, (c,), out_ty=R.Tensor((4,), "float32"))
            R.output(d)
        return d
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def exp(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        for i in range(T.int64(4)):
            with T.sblock("B"):
                v = T.axis.spatial(T.int64(4), i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = T.exp(A[v])

    @T.prim_func(private=True)
    def loops(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 0})
        for i in range(T.int64(4)):
            B[i] = A[i] + T.float32(1.0)

    @R.function(private=True)
    def fused_exp_exp(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.exp, (x,), out_ty=R.Tensor((4,), dtype="float32"))
            b = R.call_tir(cls.exp, (a,), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((4,), dtype="float32") = cls.fused_exp_exp(x)
            c = R.call_tir(cls.loops, (b,), out_ty=R.Tensor((4,), dtype="float32"))
            d = R.call_tir(cls.exp, (c,), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(d)
        return d
