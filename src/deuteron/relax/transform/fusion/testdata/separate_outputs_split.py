# run: AnnotateTIROpPattern,SeparateOutputs,FuseOps(fuse_opt_level=2),DeadCodeElimination
# expect-remark: SeparateOutputs lv: separated
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((T.int64(4), T.int64(6)), "float32"), b: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], b[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = a[v_ax0, v_ax1] + b[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply(f: T.Buffer((T.int64(4), T.int64(6)), "float32"), c: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(f[v_ax0, v_ax1], c[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = f[v_ax0, v_ax1] * c[v_ax0, v_ax1]

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

    @T.prim_func(private=True, s_tir=True)
    def tir_sigmoid(i: T.Buffer((T.int64(4), T.int64(6)), "float32"), compute: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(i[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.sigmoid(i[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((4, 12), dtype="float32"), c: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")])
            i: R.Tensor((4, 6), dtype="float32") = lv[0]
            f: R.Tensor((4, 6), dtype="float32") = lv[1]
            a = R.call_tir(cls.tir_sigmoid, (i,), out_ty=R.Tensor((4, 6), dtype="float32"))
            b = R.call_tir(cls.multiply, (f, c), out_ty=R.Tensor((4, 6), dtype="float32"))
            gv = R.call_tir(cls.add, (a, b), out_ty=R.Tensor((4, 6), dtype="float32"))
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
    def add(a: T.Buffer((T.int64(4), T.int64(6)), "float32"), b: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], b[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = a[v_ax0, v_ax1] + b[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply(f: T.Buffer((T.int64(4), T.int64(6)), "float32"), c: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(f[v_ax0, v_ax1], c[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = f[v_ax0, v_ax1] * c[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def split_0(x: T.Buffer((T.int64(4), T.int64(12)), "float32"), T_split_sections: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_split_sections"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(T_split_sections[v_ax0, v_ax1])
                T_split_sections[v_ax0, v_ax1] = x[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def split_1(x: T.Buffer((T.int64(4), T.int64(12)), "float32"), T_split_sections_1: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_split_sections_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1 + T.int64(6)])
                T.writes(T_split_sections_1[v_ax0, v_ax1])
                T_split_sections_1[v_ax0, v_ax1] = x[v_ax0, v_ax1 + T.int64(6)]

    @T.prim_func(private=True, s_tir=True)
    def tir_sigmoid(i: T.Buffer((T.int64(4), T.int64(6)), "float32"), compute: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(i[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.sigmoid(i[v_i0, v_i1])

    @R.function(private=True)
    def fused_split_0_split_1_tir_sigmoid_multiply_add(x: R.Tensor((4, 12), dtype="float32"), c: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            i = R.call_tir(cls.split_0, (x,), out_ty=R.Tensor((4, 6), dtype="float32"))
            f = R.call_tir(cls.split_1, (x,), out_ty=R.Tensor((4, 6), dtype="float32"))
            a = R.call_tir(cls.tir_sigmoid, (i,), out_ty=R.Tensor((4, 6), dtype="float32"))
            b = R.call_tir(cls.multiply, (f, c), out_ty=R.Tensor((4, 6), dtype="float32"))
            gv = R.call_tir(cls.add, (a, b), out_ty=R.Tensor((4, 6), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 12), dtype="float32"), c: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((4, 6), dtype="float32") = cls.fused_split_0_split_1_tir_sigmoid_multiply_add(x, c)
            R.output(gv)
        return gv
