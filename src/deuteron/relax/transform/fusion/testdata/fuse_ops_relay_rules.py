# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(relay_rules=true)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.concat((a, x), axis=0)
            gv = R.negative(b)
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
    def concatenate(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_concat: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(8), T.int64(8)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0 - T.int64(4), v_ax1], a[v_ax0, v_ax1])
                T.writes(T_concat[v_ax0, v_ax1])
                T_concat[v_ax0, v_ax1] = T.if_then_else(T.int64(4) <= v_ax0, x[v_ax0 - T.int64(4), v_ax1], a[v_ax0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(b: T.Buffer((T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(8), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(b[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = b[v_i0, v_i1] * T.float32(-1.0)

    @R.function(private=True)
    def fused_tir_exp_concatenate_tir_negative(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            b = R.call_tir(cls.concatenate, (a, x), out_ty=R.Tensor((8, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_negative, (b,), out_ty=R.Tensor((8, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((8, 8), dtype="float32") = cls.fused_tir_exp_concatenate_tir_negative(x)
            R.output(gv)
        return gv
