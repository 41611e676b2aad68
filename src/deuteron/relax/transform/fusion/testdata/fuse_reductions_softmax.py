# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions e -> s: fused
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(e: T.Buffer((n, T.int64(100)), "float32"), s: T.Buffer((n, T.int64(1)), "float32"), T_divide: T.Buffer((n, T.int64(100)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(n, T.int64(100)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = e[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((n, T.int64(100)), "float32"), x_red: T.Buffer((n, T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(n, T.int64(1), T.int64(100)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((n, T.int64(100)), "float32"), m: T.Buffer((n, T.int64(1)), "float32"), T_subtract: T.Buffer((n, T.int64(100)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(n, T.int64(100)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], m[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - m[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def sum(e: T.Buffer((n, T.int64(100)), "float32"), e_red: T.Buffer((n, T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(n, T.int64(1), T.int64(100)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(e[v_ax0, v_k1])
                T.writes(e_red[v_ax0, v_ax1])
                with T.init():
                    e_red[v_ax0, v_ax1] = T.float32(0.0)
                e_red[v_ax0, v_ax1] = e_red[v_ax0, v_ax1] + e[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(d: T.Buffer((n, T.int64(100)), "float32"), compute: T.Buffer((n, T.int64(100)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(n, T.int64(100)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(d[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(d[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((n, 100), dtype="float32")) -> R.Tensor((n, 100), dtype="float32"):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((n, 1), dtype="float32"))
            d = R.call_tir(cls.subtract, (x, m), out_ty=R.Tensor((n, 100), dtype="float32"))
            e = R.call_tir(cls.tir_exp, (d,), out_ty=R.Tensor((n, 100), dtype="float32"))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((n, 1), dtype="float32"))
            gv = R.call_tir(cls.divide, (e, s), out_ty=R.Tensor((n, 100), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(e: T.Buffer((n, T.int64(100)), "float32"), s: T.Buffer((n, T.int64(1)), "float32"), T_divide: T.Buffer((n, T.int64(100)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(n, T.int64(100)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = e[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((n, T.int64(100)), "float32"), x_red: T.Buffer((n, T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(n, T.int64(1), T.int64(100)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((n, T.int64(100)), "float32"), m: T.Buffer((n, T.int64(1)), "float32"), T_subtract: T.Buffer((n, T.int64(100)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(n, T.int64(100)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], m[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - m[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def sum(e: T.Buffer((n, T.int64(100)), "float32"), e_red: T.Buffer((n, T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(n, T.int64(1), T.int64(100)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(e[v_ax0, v_k1])
                T.writes(e_red[v_ax0, v_ax1])
                with T.init():
                    e_red[v_ax0, v_ax1] = T.float32(0.0)
                e_red[v_ax0, v_ax1] = e_red[v_ax0, v_ax1] + e[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(d: T.Buffer((n, T.int64(100)), "float32"), compute: T.Buffer((n, T.int64(100)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(n, T.int64(100)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(d[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(d[v_i0, v_i1])

    @R.function(private=True)
    def fused_max_subtract_tir_exp_sum_divide(x: R.Tensor((n, 100), dtype="float32")) -> R.Tensor((n, 100), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((n, 1), dtype="float32"))
            d = R.call_tir(cls.subtract, (x, m), out_ty=R.Tensor((n, 100), dtype="float32"))
            e = R.call_tir(cls.tir_exp, (d,), out_ty=R.Tensor((n, 100), dtype="float32"))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((n, 1), dtype="float32"))
            gv = R.call_tir(cls.divide, (e, s), out_ty=R.Tensor((n, 100), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_subtract_tir_exp(x: R.Tensor((n, 100), dtype="float32"), m: R.Tensor((n, 1), dtype="float32")) -> R.Tensor((n, 100), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            d = R.call_tir(cls.subtract, (x, m), out_ty=R.Tensor((n, 100), dtype="float32"))
            e = R.call_tir(cls.tir_exp, (d,), out_ty=R.Tensor((n, 100), dtype="float32"))
            R.output(e)
        return e

    @R.function
    def main(x: R.Tensor((n, 100), dtype="float32")) -> R.Tensor((n, 100), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((n, 100), dtype="float32") = cls.fused_max_subtract_tir_exp_sum_divide(x)
            R.output(gv)
        return gv
