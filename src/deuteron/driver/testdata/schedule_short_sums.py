# run: LegalizeOps,ScheduleForCPU
# target: llvm -mcpu=x86-64-v3 -threads=1
# A row of fewer than two vectors is summed as it stands, a longer one in lanes.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((512, 12), "float32"), y: R.Tensor((512, 64), "float32")):
        with R.dataflow():
            a = R.sum(x, axis=[-1])
            b = R.sum(y, axis=[-1])
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
    def sum(x: T.Buffer((T.int64(512), T.int64(12)), "float32"), x_red: T.Buffer((T.int64(512),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in T.parallel(T.int64(512)):
            for k1 in range(T.int64(12)):
                with T.sblock("x_red"):
                    v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                    T.reads(x[v_ax0, v_k1])
                    T.writes(x_red[v_ax0])
                    with T.init():
                        x_red[v_ax0] = T.float32(0.0)
                    x_red[v_ax0] = x_red[v_ax0] + x[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def sum1(y: T.Buffer((T.int64(512), T.int64(64)), "float32"), y_red: T.Buffer((T.int64(512),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        y_red_rf = T.sblock_alloc_buffer((T.int64(512), T.int64(32)))
        y_red_rf_1 = T.sblock_alloc_buffer((T.int64(512), T.int64(8)))
        y_red_rf_2 = T.sblock_alloc_buffer((T.int64(512), T.int64(4)))
        y_red_rf_3 = T.sblock_alloc_buffer((T.int64(512), T.int64(2)))
        for ax0 in T.parallel(T.int64(512)):
            for k1_1 in T.vectorized(T.int64(32)):
                with T.sblock("y_red_rf_init"):
                    v_ax0, v_k1_1 = T.axis.remap("SS", [ax0, k1_1])
                    T.reads()
                    T.writes(y_red_rf[v_ax0, v_k1_1])
                    y_red_rf[v_ax0, v_k1_1] = T.float32(0.0)
            for k1_0 in range(T.int64(2)):
                for k1_1 in T.vectorized(T.int64(32)):
                    with T.sblock("y_red_rf"):
                        v_ax0, v_k1_1, v_k1_0 = T.axis.remap("SSR", [ax0, k1_1, k1_0])
                        T.reads(y_red_rf[v_ax0, v_k1_1], y[v_ax0, v_k1_1 + v_k1_0 * T.int64(32)])
                        T.writes(y_red_rf[v_ax0, v_k1_1])
                        y_red_rf[v_ax0, v_k1_1] = y_red_rf[v_ax0, v_k1_1] + y[v_ax0, v_k1_1 + v_k1_0 * T.int64(32)]
            for k1_1_1 in T.vectorized(T.int64(8)):
                with T.sblock("y_red_rf_1_init"):
                    v_ax0, v_k1_1_1 = T.axis.remap("SS", [ax0, k1_1_1])
                    T.reads()
                    T.writes(y_red_rf_1[v_ax0, v_k1_1_1])
                    y_red_rf_1[v_ax0, v_k1_1_1] = T.float32(0.0)
            for k1_1_0 in T.unroll(T.int64(4)):
                for k1_1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("y_red_rf_1"):
                        v_ax0, v_k1_1_1, v_k1_1_0 = T.axis.remap("SSR", [ax0, k1_1_1, k1_1_0])
                        T.reads(y_red_rf_1[v_ax0, v_k1_1_1], y_red_rf[v_ax0, v_k1_1_1 + v_k1_1_0 * T.int64(8)])
                        T.writes(y_red_rf_1[v_ax0, v_k1_1_1])
                        y_red_rf_1[v_ax0, v_k1_1_1] = y_red_rf_1[v_ax0, v_k1_1_1] + y_red_rf[v_ax0, v_k1_1_1 + v_k1_1_0 * T.int64(8)]
            for k1_1_1_1 in T.vectorized(T.int64(4)):
                with T.sblock("y_red_rf_2_init"):
                    v_ax0, v_k1_1_1_1 = T.axis.remap("SS", [ax0, k1_1_1_1])
                    T.reads()
                    T.writes(y_red_rf_2[v_ax0, v_k1_1_1_1])
                    y_red_rf_2[v_ax0, v_k1_1_1_1] = T.float32(0.0)
            for k1_1_1_0 in T.unroll(T.int64(2)):
                for k1_1_1_1 in T.vectorized(T.int64(4)):
                    with T.sblock("y_red_rf_2"):
                        v_ax0, v_k1_1_1_1, v_k1_1_1_0 = T.axis.remap("SSR", [ax0, k1_1_1_1, k1_1_1_0])
                        T.reads(y_red_rf_2[v_ax0, v_k1_1_1_1], y_red_rf_1[v_ax0, v_k1_1_1_1 + v_k1_1_1_0 * T.int64(4)])
                        T.writes(y_red_rf_2[v_ax0, v_k1_1_1_1])
                        y_red_rf_2[v_ax0, v_k1_1_1_1] = y_red_rf_2[v_ax0, v_k1_1_1_1] + y_red_rf_1[v_ax0, v_k1_1_1_1 + v_k1_1_1_0 * T.int64(4)]
            for k1_1_1_1_1 in T.vectorized(T.int64(2)):
                with T.sblock("y_red_rf_3_init"):
                    v_ax0, v_k1_1_1_1_1 = T.axis.remap("SS", [ax0, k1_1_1_1_1])
                    T.reads()
                    T.writes(y_red_rf_3[v_ax0, v_k1_1_1_1_1])
                    y_red_rf_3[v_ax0, v_k1_1_1_1_1] = T.float32(0.0)
            for k1_1_1_1_0 in T.unroll(T.int64(2)):
                for k1_1_1_1_1 in T.vectorized(T.int64(2)):
                    with T.sblock("y_red_rf_3"):
                        v_ax0, v_k1_1_1_1_1, v_k1_1_1_1_0 = T.axis.remap("SSR", [ax0, k1_1_1_1_1, k1_1_1_1_0])
                        T.reads(y_red_rf_3[v_ax0, v_k1_1_1_1_1], y_red_rf_2[v_ax0, v_k1_1_1_1_1 + v_k1_1_1_1_0 * T.int64(2)])
                        T.writes(y_red_rf_3[v_ax0, v_k1_1_1_1_1])
                        y_red_rf_3[v_ax0, v_k1_1_1_1_1] = y_red_rf_3[v_ax0, v_k1_1_1_1_1] + y_red_rf_2[v_ax0, v_k1_1_1_1_1 + v_k1_1_1_1_0 * T.int64(2)]
            for k1_1_1_1_1 in range(T.int64(2)):
                with T.sblock("y_red"):
                    v_ax0, v_k1_1_1_1_1 = T.axis.remap("SR", [ax0, k1_1_1_1_1])
                    T.reads(y_red_rf_3[v_ax0, v_k1_1_1_1_1])
                    T.writes(y_red[v_ax0])
                    with T.init():
                        y_red[v_ax0] = T.float32(0.0)
                    y_red[v_ax0] = y_red[v_ax0] + y_red_rf_3[v_ax0, v_k1_1_1_1_1]

    @R.function
    def main(x: R.Tensor((512, 12), dtype="float32"), y: R.Tensor((512, 64), dtype="float32")) -> R.Tuple(R.Tensor((512,), dtype="float32"), R.Tensor((512,), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((512,), dtype="float32"))
            b = R.call_tir(cls.sum1, (y,), out_ty=R.Tensor((512,), dtype="float32"))
            R.output(a, b)
        return (a, b)
