# run: FuseTIR
# config: tvm_compat=true
# TVM's annotations go on naming buffers of the kernels that were merged: each block declares its own.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def scale(x: T.Buffer((T.int64(8),), "float32"), y: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(T.int64(8)):
            with T.sblock("scale"):
                v_i = T.axis.spatial(T.int64(8), i)
                T.reads(x[v_i])
                T.writes(y[v_i])
                T.sblock_attr({"layout_free_placeholders": [x]})
                y[v_i] = x[v_i] * T.float32(2.0)

    @R.function(private=True)
    def fused_scale_scale(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.scale, (x,), out_ty=R.Tensor((8,), dtype="float32"))
            b = R.call_tir(cls.scale, (a,), out_ty=R.Tensor((8,), dtype="float32"))
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        with R.dataflow():
            y: R.Tensor((8,), dtype="float32") = cls.fused_scale_scale(x)
            R.output(y)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_scale_scale(x: T.Buffer((T.int64(8),), "float32"), y_intermediate_1: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        y_intermediate = T.sblock_alloc_buffer((T.int64(8),))
        for i in range(T.int64(8)):
            with T.sblock("scale"):
                v_i = T.axis.spatial(T.int64(8), i)
                T.reads(x[v_i])
                T.writes(y_intermediate[v_i])
                x_1 = T.Buffer((T.int64(8),))
                T.sblock_attr({"layout_free_placeholders": [x_1]})
                y_intermediate[v_i] = x[v_i] * T.float32(2.0)
        for i in range(T.int64(8)):
            with T.sblock("scale1"):
                v_i = T.axis.spatial(T.int64(8), i)
                T.reads(y_intermediate[v_i])
                T.writes(y_intermediate_1[v_i])
                x_1 = T.Buffer((T.int64(8),))
                T.sblock_attr({"layout_free_placeholders": [x_1]})
                y_intermediate_1[v_i] = y_intermediate[v_i] * T.float32(2.0)

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.fused_scale_scale, (x,), out_ty=R.Tensor((8,), dtype="float32"))
            R.output(y)
        return y
