# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions lv -> s: fused
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(s: T.Buffer((T.int64(64), T.int64(1)), "float32"), t: T.Buffer((T.int64(64), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(64), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(1)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(s[v_ax0, v_ax1], t[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = s[v_ax0, v_ax1] + t[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def split(e: T.Buffer((T.int64(64), T.int64(16)), "float32"), T_split_sections: T.Buffer((T.int64(64), T.int64(8)), "float32"), T_split_sections_1: T.Buffer((T.int64(64), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(8)):
            with T.sblock("T_split_sections"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1])
                T.writes(T_split_sections[v_ax0, v_ax1])
                T_split_sections[v_ax0, v_ax1] = e[v_ax0, v_ax1]
        for ax0, ax1 in T.grid(T.int64(64), T.int64(8)):
            with T.sblock("T_split_sections_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1 + T.int64(8)])
                T.writes(T_split_sections_1[v_ax0, v_ax1])
                T_split_sections_1[v_ax0, v_ax1] = e[v_ax0, v_ax1 + T.int64(8)]

    @T.prim_func(private=True, s_tir=True)
    def sum(a: T.Buffer((T.int64(64), T.int64(8)), "float32"), a_red: T.Buffer((T.int64(64), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(64), T.int64(1), T.int64(8)):
            with T.sblock("a_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(a[v_ax0, v_k1])
                T.writes(a_red[v_ax0, v_ax1])
                with T.init():
                    a_red[v_ax0, v_ax1] = T.float32(0.0)
                a_red[v_ax0, v_ax1] = a_red[v_ax0, v_ax1] + a[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(64), T.int64(16)), "float32"), compute: T.Buffer((T.int64(64), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(16)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((64, 16), dtype="float32")) -> R.Tensor((64, 1), dtype="float32"):
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 16), dtype="float32"))
            lv = R.call_tir(cls.split, (e,), out_ty=[R.Tensor((64, 8), dtype="float32"), R.Tensor((64, 8), dtype="float32")])
            a: R.Tensor((64, 8), dtype="float32") = lv[0]
            b: R.Tensor((64, 8), dtype="float32") = lv[1]
            s = R.call_tir(cls.sum, (a,), out_ty=R.Tensor((64, 1), dtype="float32"))
            t = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((64, 1), dtype="float32"))
            gv = R.call_tir(cls.add, (s, t), out_ty=R.Tensor((64, 1), dtype="float32"))
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
    def add(s: T.Buffer((T.int64(64), T.int64(1)), "float32"), t: T.Buffer((T.int64(64), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(64), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(1)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(s[v_ax0, v_ax1], t[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = s[v_ax0, v_ax1] + t[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def split(e: T.Buffer((T.int64(64), T.int64(16)), "float32"), T_split_sections: T.Buffer((T.int64(64), T.int64(8)), "float32"), T_split_sections_1: T.Buffer((T.int64(64), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(8)):
            with T.sblock("T_split_sections"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1])
                T.writes(T_split_sections[v_ax0, v_ax1])
                T_split_sections[v_ax0, v_ax1] = e[v_ax0, v_ax1]
        for ax0, ax1 in T.grid(T.int64(64), T.int64(8)):
            with T.sblock("T_split_sections_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1 + T.int64(8)])
                T.writes(T_split_sections_1[v_ax0, v_ax1])
                T_split_sections_1[v_ax0, v_ax1] = e[v_ax0, v_ax1 + T.int64(8)]

    @T.prim_func(private=True, s_tir=True)
    def sum(a: T.Buffer((T.int64(64), T.int64(8)), "float32"), a_red: T.Buffer((T.int64(64), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(64), T.int64(1), T.int64(8)):
            with T.sblock("a_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(a[v_ax0, v_k1])
                T.writes(a_red[v_ax0, v_ax1])
                with T.init():
                    a_red[v_ax0, v_ax1] = T.float32(0.0)
                a_red[v_ax0, v_ax1] = a_red[v_ax0, v_ax1] + a[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(64), T.int64(16)), "float32"), compute: T.Buffer((T.int64(64), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(64), T.int64(16)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function(private=True)
    def fused_tir_exp_split(x: R.Tensor((64, 16), dtype="float32")) -> R.Tuple(R.Tensor((64, 8), dtype="float32"), R.Tensor((64, 8), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 16), dtype="float32"))
            lv = R.call_tir(cls.split, (e,), out_ty=[R.Tensor((64, 8), dtype="float32"), R.Tensor((64, 8), dtype="float32")])
            R.output(lv)
        return lv

    @R.function(private=True)
    def fused_tir_exp_split_sum_sum_add(x: R.Tensor((64, 16), dtype="float32")) -> R.Tensor((64, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 16), dtype="float32"))
            lv = R.call_tir(cls.split, (e,), out_ty=[R.Tensor((64, 8), dtype="float32"), R.Tensor((64, 8), dtype="float32")])
            a: R.Tensor((64, 8), dtype="float32") = lv[0]
            b: R.Tensor((64, 8), dtype="float32") = lv[1]
            s = R.call_tir(cls.sum, (a,), out_ty=R.Tensor((64, 1), dtype="float32"))
            t = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((64, 1), dtype="float32"))
            gv = R.call_tir(cls.add, (s, t), out_ty=R.Tensor((64, 1), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((64, 16), dtype="float32")) -> R.Tensor((64, 1), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((64, 1), dtype="float32") = cls.fused_tir_exp_split_sum_sum_add(x)
            R.output(gv)
        return gv
