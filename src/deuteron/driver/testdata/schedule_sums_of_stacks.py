# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseReductions,FuseTIR,ScheduleForCPU
# target: llvm -mcpu=x86-64-v3 -threads=1
# Terms that are told apart by a number that the run tells are summed in one vector of lanes: there may be few of them.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((64, 1, "p"), "float32"), y: R.Tensor((64, 1, "p"), "float32"), w: R.Tensor((64, "p * 2"), "float32")):
        p = T.int64()
        with R.dataflow():
            both = R.concat([x, y], axis=1)
            flat = R.reshape(both, (64, p * 2))
            terms = R.multiply(flat, w)
            gv = R.sum(terms, axis=[-1])
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

p = TypeVar("p")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_concatenate_reshape_multiply_sum(x: T.Buffer((T.int64(64), T.int64(1), p), "float32"), y: T.Buffer((T.int64(64), T.int64(1), p), "float32"), w: T.Buffer((T.int64(64), "p * T.int64(2)"), "float32"), terms_red_intermediate: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        terms_red_intermediate_rf = T.sblock_alloc_buffer((T.int64(64), T.int64(8)))
        terms_red_intermediate_rf_1 = T.sblock_alloc_buffer((T.int64(64), T.int64(4)))
        terms_red_intermediate_rf_2 = T.sblock_alloc_buffer((T.int64(64), T.int64(2)))
        for ax0 in T.parallel(T.int64(64)):
            for k1_1 in T.vectorized(T.int64(8)):
                with T.sblock("terms_red_rf_init"):
                    v_ax0, v_k1_1 = T.axis.remap("SS", [ax0, k1_1])
                    T.reads()
                    T.writes(terms_red_intermediate_rf[v_ax0, v_k1_1])
                    terms_red_intermediate_rf[v_ax0, v_k1_1] = T.float32(0.0)
            for k1_0 in range((p + T.int64(3)) // T.int64(4)):
                for k1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("terms_red_rf"):
                        v_ax0, v_k1_1, v_k1_0 = T.axis.remap("SSR", [ax0, k1_1, k1_0])
                        T.reads(terms_red_intermediate_rf[v_ax0, v_k1_1], y[v_ax0, (v_k1_1 + v_k1_0 * T.int64(8)) // p - T.int64(1), (v_k1_1 + v_k1_0 * T.int64(8)) % p], x[v_ax0, (v_k1_1 + v_k1_0 * T.int64(8)) // p, (v_k1_1 + v_k1_0 * T.int64(8)) % p], w[v_ax0, v_k1_1 + v_k1_0 * T.int64(8)])
                        T.writes(terms_red_intermediate_rf[v_ax0, v_k1_1])
                        terms_red_intermediate_rf[v_ax0, v_k1_1] = terms_red_intermediate_rf[v_ax0, v_k1_1] + T.if_then_else(v_k1_1 + v_k1_0 * T.int64(8) < p * T.int64(2), T.if_then_else(T.int64(0) < (v_k1_1 + v_k1_0 * T.int64(8)) // p, y[v_ax0, (v_k1_1 + v_k1_0 * T.int64(8)) // p - T.int64(1), (v_k1_1 + v_k1_0 * T.int64(8)) % p], x[v_ax0, (v_k1_1 + v_k1_0 * T.int64(8)) // p, (v_k1_1 + v_k1_0 * T.int64(8)) % p]) * w[v_ax0, v_k1_1 + v_k1_0 * T.int64(8)], T.float32(0.0))
            for k1_1_1 in T.vectorized(T.int64(4)):
                with T.sblock("terms_red_rf_1_init"):
                    v_ax0, v_k1_1_1 = T.axis.remap("SS", [ax0, k1_1_1])
                    T.reads()
                    T.writes(terms_red_intermediate_rf_1[v_ax0, v_k1_1_1])
                    terms_red_intermediate_rf_1[v_ax0, v_k1_1_1] = T.float32(0.0)
            for k1_1_0 in T.unroll(T.int64(2)):
                for k1_1_1 in T.vectorized(T.int64(4)):
                    with T.sblock("terms_red_rf_1"):
                        v_ax0, v_k1_1_1, v_k1_1_0 = T.axis.remap("SSR", [ax0, k1_1_1, k1_1_0])
                        T.reads(terms_red_intermediate_rf_1[v_ax0, v_k1_1_1], terms_red_intermediate_rf[v_ax0, v_k1_1_1 + v_k1_1_0 * T.int64(4)])
                        T.writes(terms_red_intermediate_rf_1[v_ax0, v_k1_1_1])
                        terms_red_intermediate_rf_1[v_ax0, v_k1_1_1] = terms_red_intermediate_rf_1[v_ax0, v_k1_1_1] + terms_red_intermediate_rf[v_ax0, v_k1_1_1 + v_k1_1_0 * T.int64(4)]
            for k1_1_1_1 in T.vectorized(T.int64(2)):
                with T.sblock("terms_red_rf_2_init"):
                    v_ax0, v_k1_1_1_1 = T.axis.remap("SS", [ax0, k1_1_1_1])
                    T.reads()
                    T.writes(terms_red_intermediate_rf_2[v_ax0, v_k1_1_1_1])
                    terms_red_intermediate_rf_2[v_ax0, v_k1_1_1_1] = T.float32(0.0)
            for k1_1_1_0 in T.unroll(T.int64(2)):
                for k1_1_1_1 in T.vectorized(T.int64(2)):
                    with T.sblock("terms_red_rf_2"):
                        v_ax0, v_k1_1_1_1, v_k1_1_1_0 = T.axis.remap("SSR", [ax0, k1_1_1_1, k1_1_1_0])
                        T.reads(terms_red_intermediate_rf_2[v_ax0, v_k1_1_1_1], terms_red_intermediate_rf_1[v_ax0, v_k1_1_1_1 + v_k1_1_1_0 * T.int64(2)])
                        T.writes(terms_red_intermediate_rf_2[v_ax0, v_k1_1_1_1])
                        terms_red_intermediate_rf_2[v_ax0, v_k1_1_1_1] = terms_red_intermediate_rf_2[v_ax0, v_k1_1_1_1] + terms_red_intermediate_rf_1[v_ax0, v_k1_1_1_1 + v_k1_1_1_0 * T.int64(2)]
            for k1_1_1_1 in range(T.int64(2)):
                with T.sblock("terms_red"):
                    v_ax0, v_k1_1_1_1 = T.axis.remap("SR", [ax0, k1_1_1_1])
                    T.reads(terms_red_intermediate_rf_2[v_ax0, v_k1_1_1_1])
                    T.writes(terms_red_intermediate[v_ax0])
                    with T.init():
                        terms_red_intermediate[v_ax0] = T.float32(0.0)
                    terms_red_intermediate[v_ax0] = terms_red_intermediate[v_ax0] + terms_red_intermediate_rf_2[v_ax0, v_k1_1_1_1]

    @R.function
    def main(x: R.Tensor((64, 1, p), dtype="float32"), y: R.Tensor((64, 1, p), dtype="float32"), w: R.Tensor((64, "p * 2"), dtype="float32")) -> R.Tensor((64,), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.fused_concatenate_reshape_multiply_sum, (x, y, w), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(gv)
        return gv
