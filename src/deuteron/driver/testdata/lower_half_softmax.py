# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ScheduleForCPU,DeadCodeElimination,LowerKernels
# target: llvm -mcpu=x86-64-v3 -threads=2
# What is subtracted before the exponential is not rounded to halves, and the greatest of halves not again in each step.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 64), "float16")):
        with R.dataflow():
            gv = R.nn.softmax(x, axis=0)
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
    @T.prim_func(private=True)
    def dt_softmax(x: T.Buffer((T.int64(4), T.int64(64)), "float16"), T_softmax_norm: T.Buffer((T.int64(4), T.int64(64)), "float16")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        x_1 = T.decl_buffer((T.int64(256),), "float16", data=x.data)
        T_softmax_norm_1 = T.decl_buffer((T.int64(256),), "float16", data=T_softmax_norm.data)
        for i0_0 in T.parallel(T.int64(2)):
            T_softmax_maxelem = T.alloc_buffer((T.int64(32),))
            T_softmax_exp = T.alloc_buffer((T.int64(128),))
            T_softmax_expsum = T.alloc_buffer((T.int64(32),))
            for i0_1_v in T.unroll(T.int64(4)):
                T_softmax_maxelem[i0_1_v * T.int64(8):i0_1_v * T.int64(8) + T.int64(8)] = T.Broadcast(T.float32(-3.4028234663852886e+38), 8)
            for k in range(T.int64(4)):
                for i0_1_v in T.unroll(T.int64(4)):
                    T_softmax_maxelem[i0_1_v * T.int64(8):i0_1_v * T.int64(8) + T.int64(8)] = T.max(T_softmax_maxelem[T.Ramp(i0_1_v * T.int64(8), T.int64(1), 8)], T.Cast("float32x8", x_1[T.Ramp(i0_0 * T.int64(32) + k * T.int64(64) + i0_1_v * T.int64(8), T.int64(1), 8)]))
            for i0, i1_1_0 in T.grid(T.int64(4), T.int64(4)):
                T_softmax_exp[i0 * T.int64(32) + i1_1_0 * T.int64(8):i0 * T.int64(32) + i1_1_0 * T.int64(8) + T.int64(8)] = T.Select(T.Cast("float32x8", x_1[T.Ramp(i0_0 * T.int64(32) + i0 * T.int64(64) + i1_1_0 * T.int64(8), T.int64(1), 8)]) - T_softmax_maxelem[T.Ramp(i1_1_0 * T.int64(8), T.int64(1), 8)] < T.Broadcast(T.float32(-87.3365478515625), 8), T.Broadcast(T.float32(0.0), 8), T.exp(T.Cast("float32x8", x_1[T.Ramp(i0_0 * T.int64(32) + i0 * T.int64(64) + i1_1_0 * T.int64(8), T.int64(1), 8)]) - T_softmax_maxelem[T.Ramp(i1_1_0 * T.int64(8), T.int64(1), 8)]))
            for i0_1_v in T.unroll(T.int64(4)):
                T_softmax_expsum[i0_1_v * T.int64(8):i0_1_v * T.int64(8) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for k in range(T.int64(4)):
                for i0_1_v in T.unroll(T.int64(4)):
                    T_softmax_expsum[i0_1_v * T.int64(8):i0_1_v * T.int64(8) + T.int64(8)] = T_softmax_expsum[T.Ramp(i0_1_v * T.int64(8), T.int64(1), 8)] + T_softmax_exp[T.Ramp(k * T.int64(32) + i0_1_v * T.int64(8), T.int64(1), 8)]
            for i0, i1_1_0 in T.grid(T.int64(4), T.int64(4)):
                T_softmax_norm_1[i0_0 * T.int64(32) + i0 * T.int64(64) + i1_1_0 * T.int64(8):i0_0 * T.int64(32) + i0 * T.int64(64) + i1_1_0 * T.int64(8) + T.int64(8)] = T.Cast("float16x8", T_softmax_exp[T.Ramp(i0 * T.int64(32) + i1_1_0 * T.int64(8), T.int64(1), 8)] / T_softmax_expsum[T.Ramp(i1_1_0 * T.int64(8), T.int64(1), 8)])
