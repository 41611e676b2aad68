# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# config: relax.FuseOps.max_depth=3
# expect-remark: FuseReductions s -> gv: depth-limit
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sum(e: T.Buffer((T.int64(16), T.int64(32)), "float32"), e_red: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(32)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(e[v_ax0, v_k1])
                T.writes(e_red[v_ax0, v_ax1])
                with T.init():
                    e_red[v_ax0, v_ax1] = T.float32(0.0)
                e_red[v_ax0, v_ax1] = e_red[v_ax0, v_ax1] + e[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), compute: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_log(s: T.Buffer((T.int64(16), T.int64(1)), "float32"), compute: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(s[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.log(s[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_sqrt(l: T.Buffer((T.int64(16), T.int64(1)), "float32"), compute: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(l[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.sqrt(l[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 1), dtype="float32"):
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((16, 32), dtype="float32"))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((16, 1), dtype="float32"))
            l = R.call_tir(cls.tir_log, (s,), out_ty=R.Tensor((16, 1), dtype="float32"))
            gv = R.call_tir(cls.tir_sqrt, (l,), out_ty=R.Tensor((16, 1), dtype="float32"))
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
    def sum(e: T.Buffer((T.int64(16), T.int64(32)), "float32"), e_red: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(32)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(e[v_ax0, v_k1])
                T.writes(e_red[v_ax0, v_ax1])
                with T.init():
                    e_red[v_ax0, v_ax1] = T.float32(0.0)
                e_red[v_ax0, v_ax1] = e_red[v_ax0, v_ax1] + e[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), compute: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_log(s: T.Buffer((T.int64(16), T.int64(1)), "float32"), compute: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(s[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.log(s[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_sqrt(l: T.Buffer((T.int64(16), T.int64(1)), "float32"), compute: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(l[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.sqrt(l[v_i0, v_i1])

    @R.function(private=True)
    def fused_tir_exp_sum(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((16, 32), dtype="float32"))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((16, 1), dtype="float32"))
            R.output(s)
        return s

    @R.function(private=True)
    def fused_tir_log_tir_sqrt(s: R.Tensor((16, 1), dtype="float32")) -> R.Tensor((16, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            l = R.call_tir(cls.tir_log, (s,), out_ty=R.Tensor((16, 1), dtype="float32"))
            gv = R.call_tir(cls.tir_sqrt, (l,), out_ty=R.Tensor((16, 1), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 1), dtype="float32"):
        cls = Module
        with R.dataflow():
            s: R.Tensor((16, 1), dtype="float32") = cls.fused_tir_exp_sum(x)
            gv: R.Tensor((16, 1), dtype="float32") = cls.fused_tir_log_tir_sqrt(s)
            R.output(gv)
        return gv
