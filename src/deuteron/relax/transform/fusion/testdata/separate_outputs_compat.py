# run: AnnotateTIROpPattern,SeparateOutputs,FuseOps(fuse_opt_level=2)
# config: tvm_compat=true
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(i: T.Buffer((T.int64(4), T.int64(6)), "float32"), f: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(i[v_ax0, v_ax1], f[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = i[v_ax0, v_ax1] + f[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def split(x: T.Buffer((T.int64(4), T.int64(12)), "float32"), T_split_sections: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_split_sections_1: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_split_sections"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(T_split_sections[v_ax0, v_ax1])
                T_split_sections[v_ax0, v_ax1] = x[v_ax0, v_ax1]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_split_sections_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1 + T.int64(6)])
                T.writes(T_split_sections_1[v_ax0, v_ax1])
                T_split_sections_1[v_ax0, v_ax1] = x[v_ax0, v_ax1 + T.int64(6)]

    @R.function
    def main(x: R.Tensor((4, 12), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")])
            i: R.Tensor((4, 6), dtype="float32") = lv[0]
            f: R.Tensor((4, 6), dtype="float32") = lv[1]
            gv = R.call_tir(cls.add, (i, f), out_ty=R.Tensor((4, 6), dtype="float32"))
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
    def add(i: T.Buffer((T.int64(4), T.int64(6)), "float32"), f: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(i[v_ax0, v_ax1], f[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = i[v_ax0, v_ax1] + f[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def split(x: T.Buffer((T.int64(4), T.int64(12)), "float32"), T_split_sections: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_split_sections_1: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_split_sections"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(T_split_sections[v_ax0, v_ax1])
                T_split_sections[v_ax0, v_ax1] = x[v_ax0, v_ax1]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_split_sections_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1 + T.int64(6)])
                T.writes(T_split_sections_1[v_ax0, v_ax1])
                T_split_sections_1[v_ax0, v_ax1] = x[v_ax0, v_ax1 + T.int64(6)]

    @R.function(private=True)
    def fused_split_add(x: R.Tensor((4, 12), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")])
            i: R.Tensor((4, 6), dtype="float32") = lv[0]
            f: R.Tensor((4, 6), dtype="float32") = lv[1]
            gv = R.call_tir(cls.add, (i, f), out_ty=R.Tensor((4, 6), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 12), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((4, 6), dtype="float32") = cls.fused_split_add(x)
            R.output(gv)
        return gv
