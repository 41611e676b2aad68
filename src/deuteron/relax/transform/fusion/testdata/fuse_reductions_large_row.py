# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions gv -> m: row-exceeds-cache
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(e: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), s: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_divide: T.Buffer((T.int64(4), T.int64(1048576)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1048576)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = e[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def max(gv: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), gv_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(1048576)):
            with T.sblock("gv_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(gv[v_ax0, v_k1])
                T.writes(gv_red[v_ax0, v_ax1])
                with T.init():
                    gv_red[v_ax0, v_ax1] = T.float32("-inf")
                gv_red[v_ax0, v_ax1] = T.max(gv_red[v_ax0, v_ax1], gv[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(gv: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), m: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(1048576)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1048576)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(gv[v_ax0, v_ax1], m[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = gv[v_ax0, v_ax1] - m[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), x_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(1048576)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), compute: T.Buffer((T.int64(4), T.int64(1048576)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4), T.int64(1048576)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((4, 1048576), dtype="float32")) -> R.Tuple(R.Tensor((4, 1048576), dtype="float32"), R.Tensor((4, 1048576), dtype="float32")):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((4, 1), dtype="float32"))
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 1048576), dtype="float32"))
            gv = R.call_tir(cls.divide, (e, s), out_ty=R.Tensor((4, 1048576), dtype="float32"))
            m = R.call_tir(cls.max, (gv,), out_ty=R.Tensor((4, 1), dtype="float32"))
            gv1 = R.call_tir(cls.subtract, (gv, m), out_ty=R.Tensor((4, 1048576), dtype="float32"))
            R.output(gv, gv1)
        return (gv1, gv)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(e: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), s: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_divide: T.Buffer((T.int64(4), T.int64(1048576)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1048576)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = e[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def max(gv: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), gv_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(1048576)):
            with T.sblock("gv_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(gv[v_ax0, v_k1])
                T.writes(gv_red[v_ax0, v_ax1])
                with T.init():
                    gv_red[v_ax0, v_ax1] = T.float32("-inf")
                gv_red[v_ax0, v_ax1] = T.max(gv_red[v_ax0, v_ax1], gv[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(gv: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), m: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(1048576)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1048576)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(gv[v_ax0, v_ax1], m[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = gv[v_ax0, v_ax1] - m[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), x_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(1048576)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(1048576)), "float32"), compute: T.Buffer((T.int64(4), T.int64(1048576)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(1048576)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function(private=True)
    def fused_tir_exp_divide(x: R.Tensor((4, 1048576), dtype="float32"), s: R.Tensor((4, 1), dtype="float32")) -> R.Tensor((4, 1048576), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 1048576), dtype="float32"))
            gv = R.call_tir(cls.divide, (e, s), out_ty=R.Tensor((4, 1048576), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 1048576), dtype="float32")) -> R.Tuple(R.Tensor((4, 1048576), dtype="float32"), R.Tensor((4, 1048576), dtype="float32")):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((4, 1), dtype="float32"))
            gv: R.Tensor((4, 1048576), dtype="float32") = cls.fused_tir_exp_divide(x, s)
            m = R.call_tir(cls.max, (gv,), out_ty=R.Tensor((4, 1), dtype="float32"))
            gv1 = R.call_tir(cls.subtract, (gv, m), out_ty=R.Tensor((4, 1048576), dtype="float32"))
            R.output(gv, gv1)
        return (gv1, gv)
