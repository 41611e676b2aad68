# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ScheduleForCPU,DeadCodeElimination,LowerKernels
# target: llvm -mcpu=x86-64-v3 -threads=2
# A product of halves widens its scalars once, into a buffer of its own, not in each of its tiles; and what is clipped
# is rounded once.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 8, 32), "float16"), w: R.Tensor((2, 32, 32), "float16")):
        with R.dataflow():
            lv = R.matmul(x, w)
            gv = R.clip(lv, R.prim_value(T.float64(0)), R.prim_value(T.float64(6)))
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
    def dt_fused_matmul_tir_clip(x: T.Buffer((T.int64(2), T.int64(8), T.int64(32)), "float16"), w: T.Buffer((T.int64(2), T.int64(32), T.int64(32)), "float16"), compute_intermediate: T.Buffer((T.int64(2), T.int64(8), T.int64(32)), "float16")):
        T.func_attr({"tirx.noalias": True})
        x_1 = T.decl_buffer((T.int64(512),), "float16", data=x.data)
        w_1 = T.decl_buffer((T.int64(2048),), "float16", data=w.data)
        compute_intermediate_1 = T.decl_buffer((T.int64(512),), "float16", data=compute_intermediate.data)
        x_cache = T.alloc_buffer((T.int64(512),))
        for ax0_ax1_ax2_fused_0 in T.parallel(T.int64(64)):
            x_cache[ax0_ax1_ax2_fused_0 * T.int64(8):ax0_ax1_ax2_fused_0 * T.int64(8) + T.int64(8)] = T.Cast("float32x8", x_1[T.Ramp(ax0_ax1_ax2_fused_0 * T.int64(8), T.int64(1), 8)])
        for i0_i2_0_i1_0_fused in T.parallel(T.int64(8)):
            matmul = T.alloc_buffer((T.int64(64),), scope="local")
            for i1_1 in T.unroll(T.int64(4)):
                for i2_1 in T.unroll(T.int64(2)):
                    matmul[i1_1 * T.int64(16) + i2_1 * T.int64(8):i1_1 * T.int64(16) + i2_1 * T.int64(8) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for k in T.serial(T.int64(32), annotations={"pragma_no_unroll": 1, "prefetch_steps": 58}):
                for i1_1 in T.unroll(T.int64(4)):
                    for i2_1 in T.unroll(T.int64(2)):
                        matmul[i1_1 * T.int64(16) + i2_1 * T.int64(8):i1_1 * T.int64(16) + i2_1 * T.int64(8) + T.int64(8)] = matmul[T.Ramp(i1_1 * T.int64(16) + i2_1 * T.int64(8), T.int64(1), 8)] + T.Broadcast(x_cache[k + i1_1 * T.int64(32) + i0_i2_0_i1_0_fused // T.int64(4) * T.int64(256) + i0_i2_0_i1_0_fused % T.int64(2) * T.int64(128)], 8) * T.Cast("float32x8", w_1[T.Ramp(k * T.int64(32) + i2_1 * T.int64(8) + i0_i2_0_i1_0_fused // T.int64(4) * T.int64(1024) + i0_i2_0_i1_0_fused // T.int64(2) % T.int64(2) * T.int64(16), T.int64(1), 8)])
            for ax0 in T.unroll(T.int64(4)):
                for ax1_0 in T.unroll(T.int64(2)):
                    compute_intermediate_1[i0_i2_0_i1_0_fused // T.int64(4) * T.int64(256) + i0_i2_0_i1_0_fused % T.int64(2) * T.int64(128) + i0_i2_0_i1_0_fused // T.int64(2) % T.int64(2) * T.int64(16) + ax0 * T.int64(32) + ax1_0 * T.int64(8):i0_i2_0_i1_0_fused // T.int64(4) * T.int64(256) + i0_i2_0_i1_0_fused % T.int64(2) * T.int64(128) + i0_i2_0_i1_0_fused // T.int64(2) % T.int64(2) * T.int64(16) + ax0 * T.int64(32) + ax1_0 * T.int64(8) + T.int64(8)] = T.Cast("float16x8", T.max(T.min(matmul[T.Ramp(ax0 * T.int64(16) + ax1_0 * T.int64(8), T.int64(1), 8)], T.Broadcast(T.float32(6.0), 8)), T.Broadcast(T.float32(0.0), 8)))
