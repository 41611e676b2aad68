# run: RecomputeProducers
# expect: changes
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: RecomputeProducers w -> gv: recomputed-already
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reshape(w: T.Buffer((T.int64(2048), T.int64(1024)), "float32"), T_reshape: T.Buffer((T.int64(1024), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(1024), T.int64(2048)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(w[v_ax0 * T.int64(2) + v_ax1 // T.int64(1024), v_ax1 % T.int64(1024)])
                T.writes(T_reshape[v_ax0, v_ax1])
                T_reshape[v_ax0, v_ax1] = w[v_ax0 * T.int64(2) + v_ax1 // T.int64(1024), v_ax1 % T.int64(1024)]

    @T.prim_func(private=True, s_tir=True)
    def subtract(v: T.Buffer((T.int64(2048), T.int64(1024)), "float32"), lv1: T.Buffer((T.int64(2048), T.int64(1024)), "float32"), T_subtract: T.Buffer((T.int64(2048), T.int64(1024)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(2048), T.int64(1024)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(v[v_ax0, v_ax1], lv1[v_ax0, v_ax1])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = v[v_ax0, v_ax1] - lv1[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(x: T.Buffer((T.int64(2048), T.int64(1024)), "float32"), compute: T.Buffer((T.int64(2048), T.int64(1024)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(2048), T.int64(1024)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = x[v_i0, v_i1] * T.float32(-1.0)

    @T.prim_func(private=True, s_tir=True)
    def transpose(lv: T.Buffer((T.int64(1024), T.int64(2048)), "float32"), T_transpose: T.Buffer((T.int64(2048), T.int64(1024)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(2048), T.int64(1024)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = lv[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(v: T.Buffer((T.int64(2048), T.int64(1024)), "float32"), T_transpose: T.Buffer((T.int64(1024), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(1024), T.int64(2048)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(v[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = v[v_ax1, v_ax0]

    @R.function(private=True)
    def fused_reshape_transpose_subtract(w: R.Tensor((2048, 1024), dtype="float32"), v: R.Tensor((2048, 1024), dtype="float32")) -> R.Tensor((2048, 1024), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.reshape, (w,), out_ty=R.Tensor((1024, 2048), dtype="float32"))
            lv1 = R.call_tir(cls.transpose, (lv,), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            gv = R.call_tir(cls.subtract, (v, lv1), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((2048, 1024), dtype="float32"), y: R.Tensor((2048, 1024), dtype="float32")) -> R.Tuple(R.Tensor((2048, 1024), dtype="float32"), R.Tensor((1024, 2048), dtype="float32"), R.Tensor((1024, 2048), dtype="float32")):
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.tir_negative, (x,), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            w = R.call_tir(cls.tir_negative, (y,), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            gv: R.Tensor((2048, 1024), dtype="float32") = cls.fused_reshape_transpose_subtract(w, v)
            gv1 = R.call_tir(cls.transpose1, (v,), out_ty=R.Tensor((1024, 2048), dtype="float32"))
            gv2 = R.call_tir(cls.transpose1, (w,), out_ty=R.Tensor((1024, 2048), dtype="float32"))
            R.output(gv, gv1, gv2)
        return (gv, gv1, gv2)
# ----- expected
# as before: fused_reshape_transpose_subtract, reshape, subtract, tir_negative, transpose, transpose1
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_tir_negative_reshape_transpose_subtract(x: R.Tensor((2048, 1024), dtype="float32"), w: R.Tensor((2048, 1024), dtype="float32")) -> R.Tensor((2048, 1024), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.tir_negative, (x,), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            lv = R.call_tir(cls.reshape, (w,), out_ty=R.Tensor((1024, 2048), dtype="float32"))
            lv1 = R.call_tir(cls.transpose, (lv,), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            gv = R.call_tir(cls.subtract, (v, lv1), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_tir_negative_transpose1(x: R.Tensor((2048, 1024), dtype="float32")) -> R.Tensor((1024, 2048), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.tir_negative, (x,), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            gv1 = R.call_tir(cls.transpose1, (v,), out_ty=R.Tensor((1024, 2048), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function
    def main(x: R.Tensor((2048, 1024), dtype="float32"), y: R.Tensor((2048, 1024), dtype="float32")) -> R.Tuple(R.Tensor((2048, 1024), dtype="float32"), R.Tensor((1024, 2048), dtype="float32"), R.Tensor((1024, 2048), dtype="float32")):
        cls = Module
        with R.dataflow():
            w = R.call_tir(cls.tir_negative, (y,), out_ty=R.Tensor((2048, 1024), dtype="float32"))
            gv: R.Tensor((2048, 1024), dtype="float32") = cls.fused_tir_negative_reshape_transpose_subtract(x, w)
            gv1: R.Tensor((1024, 2048), dtype="float32") = cls.fused_tir_negative_transpose1(x)
            gv2 = R.call_tir(cls.transpose1, (w,), out_ty=R.Tensor((1024, 2048), dtype="float32"))
            R.output(gv, gv1, gv2)
        return (gv, gv1, gv2)
