# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseReductions,FuseTIR,ScheduleForCPU,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3 -threads=1
# What each stage of a row reads is stored, not what it is made of, stage after stage, that nothing else reads.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 64), "float32")):
        with R.dataflow():
            e = R.erf(x)
            a = R.add(e, R.const(1, "float32"))
            m = R.multiply(x, a)
            y = R.nn.softmax(m)
            R.output(y)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_erf_add_multiply_softmax(x: T.Buffer((T.int64(4), T.int64(64)), "float32"), T_softmax_norm_intermediate: T.Buffer((T.int64(4), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_multiply_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(64)))
        T_softmax_maxelem = T.sblock_alloc_buffer((T.int64(4),))
        T_softmax_exp = T.sblock_alloc_buffer((T.int64(4), T.int64(64)))
        T_softmax_expsum = T.sblock_alloc_buffer((T.int64(4),))
        T_softmax_maxelem_rf = T.sblock_alloc_buffer((T.int64(4), T.int64(32)))
        T_softmax_maxelem_rf_1 = T.sblock_alloc_buffer((T.int64(4), T.int64(8)))
        T_softmax_maxelem_rf_2 = T.sblock_alloc_buffer((T.int64(4), T.int64(4)))
        T_softmax_maxelem_rf_3 = T.sblock_alloc_buffer((T.int64(4), T.int64(2)))
        T_softmax_expsum_rf = T.sblock_alloc_buffer((T.int64(4), T.int64(32)))
        T_softmax_expsum_rf_1 = T.sblock_alloc_buffer((T.int64(4), T.int64(8)))
        T_softmax_expsum_rf_2 = T.sblock_alloc_buffer((T.int64(4), T.int64(4)))
        T_softmax_expsum_rf_3 = T.sblock_alloc_buffer((T.int64(4), T.int64(2)))
        for ax0 in T.parallel(T.int64(4)):
            for ax1_0 in range(T.int64(8)):
                for ax1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_multiply"):
                        v_ax0 = T.axis.spatial(T.int64(4), ax0)
                        v_ax1 = T.axis.spatial(T.int64(64), ax1_0 * T.int64(8) + ax1_1)
                        T.reads(x[v_ax0, v_ax1])
                        T.writes(T_multiply_intermediate[v_ax0, v_ax1])
                        T_multiply_intermediate[v_ax0, v_ax1] = x[v_ax0, v_ax1] * (T.erf(x[v_ax0, v_ax1]) + T.float32(1.0))
            for k_1 in T.vectorized(T.int64(32)):
                with T.sblock("T_softmax_maxelem_rf_init"):
                    v_i0, v_k_1 = T.axis.remap("SS", [ax0, k_1])
                    T.reads()
                    T.writes(T_softmax_maxelem_rf[v_i0, v_k_1])
                    T_softmax_maxelem_rf[v_i0, v_k_1] = T.float32(-3.4028234663852886e+38)
            for k_0 in range(T.int64(2)):
                for k_1 in T.vectorized(T.int64(32)):
                    with T.sblock("T_softmax_maxelem_rf"):
                        v_i0, v_k_1, v_k_0 = T.axis.remap("SSR", [ax0, k_1, k_0])
                        T.reads(T_softmax_maxelem_rf[v_i0, v_k_1], T_multiply_intermediate[v_i0, v_k_1 + v_k_0 * T.int64(32)])
                        T.writes(T_softmax_maxelem_rf[v_i0, v_k_1])
                        T_softmax_maxelem_rf[v_i0, v_k_1] = T.max(T_softmax_maxelem_rf[v_i0, v_k_1], T_multiply_intermediate[v_i0, v_k_1 + v_k_0 * T.int64(32)])
            for k_1_1 in T.vectorized(T.int64(8)):
                with T.sblock("T_softmax_maxelem_rf_1_init"):
                    v_i0, v_k_1_1 = T.axis.remap("SS", [ax0, k_1_1])
                    T.reads()
                    T.writes(T_softmax_maxelem_rf_1[v_i0, v_k_1_1])
                    T_softmax_maxelem_rf_1[v_i0, v_k_1_1] = T.float32(-3.4028234663852886e+38)
            for k_1_0 in T.unroll(T.int64(4)):
                for k_1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_softmax_maxelem_rf_1"):
                        v_i0, v_k_1_1, v_k_1_0 = T.axis.remap("SSR", [ax0, k_1_1, k_1_0])
                        T.reads(T_softmax_maxelem_rf_1[v_i0, v_k_1_1], T_softmax_maxelem_rf[v_i0, v_k_1_1 + v_k_1_0 * T.int64(8)])
                        T.writes(T_softmax_maxelem_rf_1[v_i0, v_k_1_1])
                        T_softmax_maxelem_rf_1[v_i0, v_k_1_1] = T.max(T_softmax_maxelem_rf_1[v_i0, v_k_1_1], T_softmax_maxelem_rf[v_i0, v_k_1_1 + v_k_1_0 * T.int64(8)])
            for k_1_1_1 in T.vectorized(T.int64(4)):
                with T.sblock("T_softmax_maxelem_rf_2_init"):
                    v_i0, v_k_1_1_1 = T.axis.remap("SS", [ax0, k_1_1_1])
                    T.reads()
                    T.writes(T_softmax_maxelem_rf_2[v_i0, v_k_1_1_1])
                    T_softmax_maxelem_rf_2[v_i0, v_k_1_1_1] = T.float32(-3.4028234663852886e+38)
            for k_1_1_0 in T.unroll(T.int64(2)):
                for k_1_1_1 in T.vectorized(T.int64(4)):
                    with T.sblock("T_softmax_maxelem_rf_2"):
                        v_i0, v_k_1_1_1, v_k_1_1_0 = T.axis.remap("SSR", [ax0, k_1_1_1, k_1_1_0])
                        T.reads(T_softmax_maxelem_rf_2[v_i0, v_k_1_1_1], T_softmax_maxelem_rf_1[v_i0, v_k_1_1_1 + v_k_1_1_0 * T.int64(4)])
                        T.writes(T_softmax_maxelem_rf_2[v_i0, v_k_1_1_1])
                        T_softmax_maxelem_rf_2[v_i0, v_k_1_1_1] = T.max(T_softmax_maxelem_rf_2[v_i0, v_k_1_1_1], T_softmax_maxelem_rf_1[v_i0, v_k_1_1_1 + v_k_1_1_0 * T.int64(4)])
            for k_1_1_1_1 in T.vectorized(T.int64(2)):
                with T.sblock("T_softmax_maxelem_rf_3_init"):
                    v_i0, v_k_1_1_1_1 = T.axis.remap("SS", [ax0, k_1_1_1_1])
                    T.reads()
                    T.writes(T_softmax_maxelem_rf_3[v_i0, v_k_1_1_1_1])
                    T_softmax_maxelem_rf_3[v_i0, v_k_1_1_1_1] = T.float32(-3.4028234663852886e+38)
            for k_1_1_1_0 in T.unroll(T.int64(2)):
                for k_1_1_1_1 in T.vectorized(T.int64(2)):
                    with T.sblock("T_softmax_maxelem_rf_3"):
                        v_i0, v_k_1_1_1_1, v_k_1_1_1_0 = T.axis.remap("SSR", [ax0, k_1_1_1_1, k_1_1_1_0])
                        T.reads(T_softmax_maxelem_rf_3[v_i0, v_k_1_1_1_1], T_softmax_maxelem_rf_2[v_i0, v_k_1_1_1_1 + v_k_1_1_1_0 * T.int64(2)])
                        T.writes(T_softmax_maxelem_rf_3[v_i0, v_k_1_1_1_1])
                        T_softmax_maxelem_rf_3[v_i0, v_k_1_1_1_1] = T.max(T_softmax_maxelem_rf_3[v_i0, v_k_1_1_1_1], T_softmax_maxelem_rf_2[v_i0, v_k_1_1_1_1 + v_k_1_1_1_0 * T.int64(2)])
            for k_1_1_1_1 in range(T.int64(2)):
                with T.sblock("T_softmax_maxelem"):
                    v_i0, v_k_1_1_1_1 = T.axis.remap("SR", [ax0, k_1_1_1_1])
                    T.reads(T_softmax_maxelem_rf_3[v_i0, v_k_1_1_1_1])
                    T.writes(T_softmax_maxelem[v_i0])
                    with T.init():
                        T_softmax_maxelem[v_i0] = T.float32(-3.4028234663852886e+38)
                    T_softmax_maxelem[v_i0] = T.max(T_softmax_maxelem[v_i0], T_softmax_maxelem_rf_3[v_i0, v_k_1_1_1_1])
            for i1_0 in range(T.int64(8)):
                for i1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_softmax_exp"):
                        v_i0 = T.axis.spatial(T.int64(4), ax0)
                        v_i1 = T.axis.spatial(T.int64(64), i1_0 * T.int64(8) + i1_1)
                        T.reads(T_multiply_intermediate[v_i0, v_i1], T_softmax_maxelem[v_i0])
                        T.writes(T_softmax_exp[v_i0, v_i1])
                        T_softmax_exp[v_i0, v_i1] = T.Select(T_multiply_intermediate[v_i0, v_i1] - T_softmax_maxelem[v_i0] < T.float32(-87.3365478515625), T.float32(0.0), T.exp(T_multiply_intermediate[v_i0, v_i1] - T_softmax_maxelem[v_i0]))
            for k_1 in T.vectorized(T.int64(32)):
                with T.sblock("T_softmax_expsum_rf_init"):
                    v_i0, v_k_1 = T.axis.remap("SS", [ax0, k_1])
                    T.reads()
                    T.writes(T_softmax_expsum_rf[v_i0, v_k_1])
                    T_softmax_expsum_rf[v_i0, v_k_1] = T.float32(0.0)
            for k_0 in range(T.int64(2)):
                for k_1 in T.vectorized(T.int64(32)):
                    with T.sblock("T_softmax_expsum_rf"):
                        v_i0, v_k_1, v_k_0 = T.axis.remap("SSR", [ax0, k_1, k_0])
                        T.reads(T_softmax_expsum_rf[v_i0, v_k_1], T_softmax_exp[v_i0, v_k_1 + v_k_0 * T.int64(32)])
                        T.writes(T_softmax_expsum_rf[v_i0, v_k_1])
                        T_softmax_expsum_rf[v_i0, v_k_1] = T_softmax_expsum_rf[v_i0, v_k_1] + T_softmax_exp[v_i0, v_k_1 + v_k_0 * T.int64(32)]
            for k_1_1 in T.vectorized(T.int64(8)):
                with T.sblock("T_softmax_expsum_rf_1_init"):
                    v_i0, v_k_1_1 = T.axis.remap("SS", [ax0, k_1_1])
                    T.reads()
                    T.writes(T_softmax_expsum_rf_1[v_i0, v_k_1_1])
                    T_softmax_expsum_rf_1[v_i0, v_k_1_1] = T.float32(0.0)
            for k_1_0 in T.unroll(T.int64(4)):
                for k_1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_softmax_expsum_rf_1"):
                        v_i0, v_k_1_1, v_k_1_0 = T.axis.remap("SSR", [ax0, k_1_1, k_1_0])
                        T.reads(T_softmax_expsum_rf_1[v_i0, v_k_1_1], T_softmax_expsum_rf[v_i0, v_k_1_1 + v_k_1_0 * T.int64(8)])
                        T.writes(T_softmax_expsum_rf_1[v_i0, v_k_1_1])
                        T_softmax_expsum_rf_1[v_i0, v_k_1_1] = T_softmax_expsum_rf_1[v_i0, v_k_1_1] + T_softmax_expsum_rf[v_i0, v_k_1_1 + v_k_1_0 * T.int64(8)]
            for k_1_1_1 in T.vectorized(T.int64(4)):
                with T.sblock("T_softmax_expsum_rf_2_init"):
                    v_i0, v_k_1_1_1 = T.axis.remap("SS", [ax0, k_1_1_1])
                    T.reads()
                    T.writes(T_softmax_expsum_rf_2[v_i0, v_k_1_1_1])
                    T_softmax_expsum_rf_2[v_i0, v_k_1_1_1] = T.float32(0.0)
            for k_1_1_0 in T.unroll(T.int64(2)):
                for k_1_1_1 in T.vectorized(T.int64(4)):
                    with T.sblock("T_softmax_expsum_rf_2"):
                        v_i0, v_k_1_1_1, v_k_1_1_0 = T.axis.remap("SSR", [ax0, k_1_1_1, k_1_1_0])
                        T.reads(T_softmax_expsum_rf_2[v_i0, v_k_1_1_1], T_softmax_expsum_rf_1[v_i0, v_k_1_1_1 + v_k_1_1_0 * T.int64(4)])
                        T.writes(T_softmax_expsum_rf_2[v_i0, v_k_1_1_1])
                        T_softmax_expsum_rf_2[v_i0, v_k_1_1_1] = T_softmax_expsum_rf_2[v_i0, v_k_1_1_1] + T_softmax_expsum_rf_1[v_i0, v_k_1_1_1 + v_k_1_1_0 * T.int64(4)]
            for k_1_1_1_1 in T.vectorized(T.int64(2)):
                with T.sblock("T_softmax_expsum_rf_3_init"):
                    v_i0, v_k_1_1_1_1 = T.axis.remap("SS", [ax0, k_1_1_1_1])
                    T.reads()
                    T.writes(T_softmax_expsum_rf_3[v_i0, v_k_1_1_1_1])
                    T_softmax_expsum_rf_3[v_i0, v_k_1_1_1_1] = T.float32(0.0)
            for k_1_1_1_0 in T.unroll(T.int64(2)):
                for k_1_1_1_1 in T.vectorized(T.int64(2)):
                    with T.sblock("T_softmax_expsum_rf_3"):
                        v_i0, v_k_1_1_1_1, v_k_1_1_1_0 = T.axis.remap("SSR", [ax0, k_1_1_1_1, k_1_1_1_0])
                        T.reads(T_softmax_expsum_rf_3[v_i0, v_k_1_1_1_1], T_softmax_expsum_rf_2[v_i0, v_k_1_1_1_1 + v_k_1_1_1_0 * T.int64(2)])
                        T.writes(T_softmax_expsum_rf_3[v_i0, v_k_1_1_1_1])
                        T_softmax_expsum_rf_3[v_i0, v_k_1_1_1_1] = T_softmax_expsum_rf_3[v_i0, v_k_1_1_1_1] + T_softmax_expsum_rf_2[v_i0, v_k_1_1_1_1 + v_k_1_1_1_0 * T.int64(2)]
            for k_1_1_1_1 in range(T.int64(2)):
                with T.sblock("T_softmax_expsum"):
                    v_i0, v_k_1_1_1_1 = T.axis.remap("SR", [ax0, k_1_1_1_1])
                    T.reads(T_softmax_expsum_rf_3[v_i0, v_k_1_1_1_1])
                    T.writes(T_softmax_expsum[v_i0])
                    with T.init():
                        T_softmax_expsum[v_i0] = T.float32(0.0)
                    T_softmax_expsum[v_i0] = T_softmax_expsum[v_i0] + T_softmax_expsum_rf_3[v_i0, v_k_1_1_1_1]
            for i1_0 in range(T.int64(8)):
                for i1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_softmax_norm"):
                        v_i0 = T.axis.spatial(T.int64(4), ax0)
                        v_i1 = T.axis.spatial(T.int64(64), i1_0 * T.int64(8) + i1_1)
                        T.reads(T_softmax_exp[v_i0, v_i1], T_softmax_expsum[v_i0])
                        T.writes(T_softmax_norm_intermediate[v_i0, v_i1])
                        T.sblock_attr({"axis": 1})
                        T_softmax_norm_intermediate[v_i0, v_i1] = T_softmax_exp[v_i0, v_i1] / T_softmax_expsum[v_i0]

    @R.function
    def main(x: R.Tensor((4, 64), dtype="float32")) -> R.Tensor((4, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.fused_erf_add_multiply_softmax, (x,), out_ty=R.Tensor((4, 64), dtype="float32"))
            R.output(y)
        return y
