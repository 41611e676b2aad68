# run: LegalizeOps,ScheduleForCPU
# target: llvm -mcpu=x86-64-v3 -threads=1
# Results of unequal extents have each a nest of their own, those of equal ones share it.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((32, 160), "float32")):
        with R.dataflow():
            a = R.split(x, [64], axis=1)
            b = R.split(x, 2, axis=1)
            R.output(a, b)
        return (a, b)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def split(x: T.Buffer((T.int64(32), T.int64(160)), "float32"), T_split: T.Buffer((T.int64(32), T.int64(64)), "float32"), T_split_1: T.Buffer((T.int64(32), T.int64(96)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in T.parallel(T.int64(32)):
            for ax1_0 in range(T.int64(8)):
                for ax1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_split"):
                        v_ax0 = T.axis.spatial(T.int64(32), ax0)
                        v_ax1 = T.axis.spatial(T.int64(64), ax1_0 * T.int64(8) + ax1_1)
                        T.reads(x[v_ax0, v_ax1])
                        T.writes(T_split[v_ax0, v_ax1])
                        T_split[v_ax0, v_ax1] = x[v_ax0, v_ax1]
        for ax0 in T.parallel(T.int64(32)):
            for ax1_0 in range(T.int64(12)):
                for ax1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_split_1"):
                        v_ax0 = T.axis.spatial(T.int64(32), ax0)
                        v_ax1 = T.axis.spatial(T.int64(96), ax1_0 * T.int64(8) + ax1_1)
                        T.reads(x[v_ax0, v_ax1 + T.int64(64)])
                        T.writes(T_split_1[v_ax0, v_ax1])
                        T_split_1[v_ax0, v_ax1] = x[v_ax0, v_ax1 + T.int64(64)]

    @T.prim_func(private=True, s_tir=True)
    def split1(x: T.Buffer((T.int64(32), T.int64(160)), "float32"), T_split_sections: T.Buffer((T.int64(32), T.int64(80)), "float32"), T_split_sections_1: T.Buffer((T.int64(32), T.int64(80)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in T.parallel(T.int64(32)):
            for ax1_0 in range(T.int64(10)):
                for ax1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_split_sections"):
                        v_ax0 = T.axis.spatial(T.int64(32), ax0)
                        v_ax1 = T.axis.spatial(T.int64(80), ax1_0 * T.int64(8) + ax1_1)
                        T.reads(x[v_ax0, v_ax1])
                        T.writes(T_split_sections[v_ax0, v_ax1])
                        T_split_sections[v_ax0, v_ax1] = x[v_ax0, v_ax1]
            for ax1_0 in range(T.int64(10)):
                for ax1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_split_sections_1"):
                        v_ax0 = T.axis.spatial(T.int64(32), ax0)
                        v_ax1 = T.axis.spatial(T.int64(80), ax1_0 * T.int64(8) + ax1_1)
                        T.reads(x[v_ax0, v_ax1 + T.int64(80)])
                        T.writes(T_split_sections_1[v_ax0, v_ax1])
                        T_split_sections_1[v_ax0, v_ax1] = x[v_ax0, v_ax1 + T.int64(80)]

    @R.function
    def main(x: R.Tensor((32, 160), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor((32, 64), dtype="float32"), R.Tensor((32, 96), dtype="float32")), R.Tuple(R.Tensor((32, 80), dtype="float32"), R.Tensor((32, 80), dtype="float32"))):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((32, 64), dtype="float32"), R.Tensor((32, 96), dtype="float32")])
            b = R.call_tir(cls.split1, (x,), out_ty=[R.Tensor((32, 80), dtype="float32"), R.Tensor((32, 80), dtype="float32")])
            R.output(a, b)
        return (a, b)
