# run: AnnotateTIROpPattern,SeparateOutputs,FuseOps(fuse_opt_level=2),DeadCodeElimination
# expect-remark: SeparateOutputs lv: a-result-is-stored
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((T.int64(4), T.int64(6)), "float32"), gv: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], gv[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = a[v_ax0, v_ax1] + gv[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def matmul(f: T.Buffer((T.int64(4), T.int64(6)), "float32"), w: T.Buffer((T.int64(6), T.int64(6)), "float32"), matmul: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1, k in T.grid(T.int64(4), T.int64(6), T.int64(6)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(f[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + f[v_i0, v_k] * w[v_k, v_i1]

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
    def main(x: R.Tensor((4, 12), dtype="float32"), w: R.Tensor((6, 6), dtype="float32")) -> R.Tuple(R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")])
            i: R.Tensor((4, 6), dtype="float32") = lv[0]
            f: R.Tensor((4, 6), dtype="float32") = lv[1]
            a = R.call_tir(cls.tir_sigmoid, (i,), out_ty=R.Tensor((4, 6), dtype="float32"))
            b = R.call_tir(cls.matmul, (i, w), out_ty=R.Tensor((4, 6), dtype="float32"))
            gv = R.call_tir(cls.matmul, (f, b), out_ty=R.Tensor((4, 6), dtype="float32"))
            gv1 = R.call_tir(cls.add, (a, gv), out_ty=R.Tensor((4, 6), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((T.int64(4), T.int64(6)), "float32"), gv: T.Buffer((T.int64(4), T.int64(6)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], gv[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = a[v_ax0, v_ax1] + gv[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def matmul(f: T.Buffer((T.int64(4), T.int64(6)), "float32"), w: T.Buffer((T.int64(6), T.int64(6)), "float32"), matmul: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(4), T.int64(6), T.int64(6)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(f[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + f[v_i0, v_k] * w[v_k, v_i1]

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
    def fused_tir_sigmoid_add(i: R.Tensor((4, 6), dtype="float32"), gv: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_sigmoid, (i,), out_ty=R.Tensor((4, 6), dtype="float32"))
            gv1 = R.call_tir(cls.add, (a, gv), out_ty=R.Tensor((4, 6), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function
    def main(x: R.Tensor((4, 12), dtype="float32"), w: R.Tensor((6, 6), dtype="float32")) -> R.Tuple(R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")])
            i: R.Tensor((4, 6), dtype="float32") = lv[0]
            f: R.Tensor((4, 6), dtype="float32") = lv[1]
            b = R.call_tir(cls.matmul, (i, w), out_ty=R.Tensor((4, 6), dtype="float32"))
            gv = R.call_tir(cls.matmul, (f, b), out_ty=R.Tensor((4, 6), dtype="float32"))
            gv1: R.Tensor((4, 6), dtype="float32") = cls.fused_tir_sigmoid_add(i, gv)
            R.output(gv, gv1)
        return (gv, gv1)
