# run: FuseTIR
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def concatenate(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), x_1: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_concat: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(8), T.int64(8)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x_1[v_ax0 - T.int64(4), v_ax1], x[v_ax0, v_ax1])
                T.writes(T_concat[v_ax0, v_ax1])
                T_concat[v_ax0, v_ax1] = T.if_then_else(T.int64(4) <= v_ax0, x_1[v_ax0 - T.int64(4), v_ax1], x[v_ax0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(a: T.Buffer((T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(8), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(a[v_i0, v_i1])

    @R.function(private=True)
    def fused_concatenate_tir_exp(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.concatenate, (x, x), out_ty=R.Tensor((8, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (a,), out_ty=R.Tensor((8, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((8, 8), dtype="float32") = cls.fused_concatenate_tir_exp(x)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_concatenate_tir_exp(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute_intermediate: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_concat_intermediate = T.sblock_alloc_buffer((T.int64(8), T.int64(8)))
        for ax0, ax1 in T.grid(T.int64(8), T.int64(8)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0 - T.int64(4):v_ax0 - T.int64(4) + T.int64(5), v_ax1])
                T.writes(T_concat_intermediate[v_ax0, v_ax1])
                T_concat_intermediate[v_ax0, v_ax1] = T.if_then_else(T.int64(4) <= v_ax0, x[v_ax0 - T.int64(4), v_ax1], x[v_ax0, v_ax1])
        for i0, i1 in T.grid(T.int64(8), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_concat_intermediate[v_i0, v_i1])
                T.writes(compute_intermediate[v_i0, v_i1])
                compute_intermediate[v_i0, v_i1] = T.exp(T_concat_intermediate[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.fused_concatenate_tir_exp, (x,), out_ty=R.Tensor((8, 8), dtype="float32"))
            R.output(gv)
        return gv
