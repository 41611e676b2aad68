# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
n = TypeVar("n")
h = TypeVar("h")
w = TypeVar("w")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(e: T.Buffer((n, T.int64(64), "h * w"), "float32"), s: T.Buffer((n, T.int64(1), "h * w"), "float32"), T_divide: T.Buffer((n, T.int64(64), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2 in T.grid(n, T.int64(64), h * w):
            with T.sblock("T_divide"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(e[v_ax0, v_ax1, v_ax2], s[v_ax0, T.int64(0), v_ax2])
                T.writes(T_divide[v_ax0, v_ax1, v_ax2])
                T_divide[v_ax0, v_ax1, v_ax2] = e[v_ax0, v_ax1, v_ax2] / s[v_ax0, T.int64(0), v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def max(flat: T.Buffer((n, T.int64(64), "h * w"), "float32"), flat_red: T.Buffer((n, T.int64(1), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2, k1 in T.grid(n, T.int64(1), h * w, T.int64(64)):
            with T.sblock("flat_red"):
                v_ax0, v_ax1, v_ax2, v_k1 = T.axis.remap("SSSR", [ax0, ax1, ax2, k1])
                T.reads(flat[v_ax0, v_k1, v_ax2])
                T.writes(flat_red[v_ax0, v_ax1, v_ax2])
                with T.init():
                    flat_red[v_ax0, v_ax1, v_ax2] = T.float32("-inf")
                flat_red[v_ax0, v_ax1, v_ax2] = T.max(flat_red[v_ax0, v_ax1, v_ax2], flat[v_ax0, v_k1, v_ax2])

    @T.prim_func(private=True, s_tir=True)
    def reshape(x: T.Buffer((n, T.int64(64), h, w), "float32"), T_reshape: T.Buffer((n, T.int64(64), "h * w"), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2 in T.grid(n, T.int64(64), h * w):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(x[v_ax0, v_ax1, v_ax2 // w, v_ax2 % w])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2])
                T_reshape[v_ax0, v_ax1, v_ax2] = x[v_ax0, v_ax1, v_ax2 // w, v_ax2 % w]

    @T.prim_func(private=True, s_tir=True)
    def subtract(flat: T.Buffer((n, T.int64(64), "h * w"), "float32"), m: T.Buffer((n, T.int64(1), "h * w"), "float32"), T_subtract: T.Buffer((n, T.int64(64), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2 in T.grid(n, T.int64(64), h * w):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(flat[v_ax0, v_ax1, v_ax2], m[v_ax0, T.int64(0), v_ax2])
                T.writes(T_subtract[v_ax0, v_ax1, v_ax2])
                T_subtract[v_ax0, v_ax1, v_ax2] = flat[v_ax0, v_ax1, v_ax2] - m[v_ax0, T.int64(0), v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def sum(e: T.Buffer((n, T.int64(64), "h * w"), "float32"), e_red: T.Buffer((n, T.int64(1), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2, k1 in T.grid(n, T.int64(1), h * w, T.int64(64)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_ax2, v_k1 = T.axis.remap("SSSR", [ax0, ax1, ax2, k1])
                T.reads(e[v_ax0, v_k1, v_ax2])
                T.writes(e_red[v_ax0, v_ax1, v_ax2])
                with T.init():
                    e_red[v_ax0, v_ax1, v_ax2] = T.float32(0.0)
                e_red[v_ax0, v_ax1, v_ax2] = e_red[v_ax0, v_ax1, v_ax2] + e[v_ax0, v_k1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(lv: T.Buffer((n, T.int64(64), "h * w"), "float32"), compute: T.Buffer((n, T.int64(64), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"tirx.noalias": True})
        for i0, i1, i2 in T.grid(n, T.int64(64), h * w):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(lv[v_i0, v_i1, v_i2])
                T.writes(compute[v_i0, v_i1, v_i2])
                compute[v_i0, v_i1, v_i2] = T.exp(lv[v_i0, v_i1, v_i2])

    @R.function
    def main(x: R.Tensor((n, 64, h, w), dtype="float32")) -> R.Tensor((n, 64, "h * w"), dtype="float32"):
        cls = Module
        with R.dataflow():
            flat = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((n, 64, h * w), dtype="float32"))
            m = R.call_tir(cls.max, (flat,), out_ty=R.Tensor((n, 1, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            lv = R.call_tir(cls.subtract, (flat, m), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            e = R.call_tir(cls.tir_exp, (lv,), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((n, 1, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            gv = R.call_tir(cls.divide, (e, s), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
h = TypeVar("h")
w = TypeVar("w")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(e: T.Buffer((n, T.int64(64), "h * w"), "float32"), s: T.Buffer((n, T.int64(1), "h * w"), "float32"), T_divide: T.Buffer((n, T.int64(64), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(n, T.int64(64), h * w):
            with T.sblock("T_divide"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(e[v_ax0, v_ax1, v_ax2], s[v_ax0, T.int64(0), v_ax2])
                T.writes(T_divide[v_ax0, v_ax1, v_ax2])
                T_divide[v_ax0, v_ax1, v_ax2] = e[v_ax0, v_ax1, v_ax2] / s[v_ax0, T.int64(0), v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def max(flat: T.Buffer((n, T.int64(64), "h * w"), "float32"), flat_red: T.Buffer((n, T.int64(1), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, k1 in T.grid(n, T.int64(1), h * w, T.int64(64)):
            with T.sblock("flat_red"):
                v_ax0, v_ax1, v_ax2, v_k1 = T.axis.remap("SSSR", [ax0, ax1, ax2, k1])
                T.reads(flat[v_ax0, v_k1, v_ax2])
                T.writes(flat_red[v_ax0, v_ax1, v_ax2])
                with T.init():
                    flat_red[v_ax0, v_ax1, v_ax2] = T.float32("-inf")
                flat_red[v_ax0, v_ax1, v_ax2] = T.max(flat_red[v_ax0, v_ax1, v_ax2], flat[v_ax0, v_k1, v_ax2])

    @T.prim_func(private=True, s_tir=True)
    def reshape(x: T.Buffer((n, T.int64(64), h, w), "float32"), T_reshape: T.Buffer((n, T.int64(64), "h * w"), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(n, T.int64(64), h * w):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(x[v_ax0, v_ax1, v_ax2 // w, v_ax2 % w])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2])
                T_reshape[v_ax0, v_ax1, v_ax2] = x[v_ax0, v_ax1, v_ax2 // w, v_ax2 % w]

    @T.prim_func(private=True, s_tir=True)
    def subtract(flat: T.Buffer((n, T.int64(64), "h * w"), "float32"), m: T.Buffer((n, T.int64(1), "h * w"), "float32"), T_subtract: T.Buffer((n, T.int64(64), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(n, T.int64(64), h * w):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(flat[v_ax0, v_ax1, v_ax2], m[v_ax0, T.int64(0), v_ax2])
                T.writes(T_subtract[v_ax0, v_ax1, v_ax2])
                T_subtract[v_ax0, v_ax1, v_ax2] = flat[v_ax0, v_ax1, v_ax2] - m[v_ax0, T.int64(0), v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def sum(e: T.Buffer((n, T.int64(64), "h * w"), "float32"), e_red: T.Buffer((n, T.int64(1), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, k1 in T.grid(n, T.int64(1), h * w, T.int64(64)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_ax2, v_k1 = T.axis.remap("SSSR", [ax0, ax1, ax2, k1])
                T.reads(e[v_ax0, v_k1, v_ax2])
                T.writes(e_red[v_ax0, v_ax1, v_ax2])
                with T.init():
                    e_red[v_ax0, v_ax1, v_ax2] = T.float32(0.0)
                e_red[v_ax0, v_ax1, v_ax2] = e_red[v_ax0, v_ax1, v_ax2] + e[v_ax0, v_k1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(lv: T.Buffer((n, T.int64(64), "h * w"), "float32"), compute: T.Buffer((n, T.int64(64), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2 in T.grid(n, T.int64(64), h * w):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(lv[v_i0, v_i1, v_i2])
                T.writes(compute[v_i0, v_i1, v_i2])
                compute[v_i0, v_i1, v_i2] = T.exp(lv[v_i0, v_i1, v_i2])

    @R.function(private=True)
    def fused_reshape_max_subtract_tir_exp_sum_divide(x: R.Tensor((n, 64, h, w), dtype="float32")) -> R.Tensor((n, 64, "h * w"), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            flat = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((n, 64, h * w), dtype="float32"))
            m = R.call_tir(cls.max, (flat,), out_ty=R.Tensor((n, 1, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            lv = R.call_tir(cls.subtract, (flat, m), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            e = R.call_tir(cls.tir_exp, (lv,), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((n, 1, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            gv = R.call_tir(cls.divide, (e, s), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_subtract_tir_exp(flat: R.Tensor((n, 64, "h * w"), dtype="float32"), m: R.Tensor((n, 1, "h * w"), dtype="float32"), tir_vars: R.Shape([h, w])) -> R.Tensor((n, 64, "h * w"), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.subtract, (flat, m), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            e = R.call_tir(cls.tir_exp, (lv,), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            R.output(e)
        return e

    @R.function
    def main(x: R.Tensor((n, 64, h, w), dtype="float32")) -> R.Tensor((n, 64, "h * w"), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((n, 64, h * w), dtype="float32") = cls.fused_reshape_max_subtract_tir_exp_sum_divide(x)
            R.output(gv)
        return gv
