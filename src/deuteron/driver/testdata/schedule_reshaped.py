# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ScheduleForCPU,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3 -threads=2
# Groups of channels are read as channels, whose tiles are transposed in registers: 24 are three groups of 8.
@I.ir_module
class Module:
    @R.function
    def main(groups: R.Tensor((1, 3, 2048), "float32"), scale: R.Tensor((24, 1, 1), "float32")):
        with R.dataflow():
            image = R.reshape(groups, R.shape([1, 24, 16, 16]))
            scaled = R.multiply(image, scale)
            relu = R.nn.relu(scaled)
            y = R.permute_dims(relu, axes=[0, 2, 3, 1])
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
    def fused_reshape_multiply_relu_transpose(groups: T.Buffer((T.int64(1), T.int64(3), T.int64(2048)), "float32"), scale: T.Buffer((T.int64(24), T.int64(1), T.int64(1)), "float32"), T_transpose_intermediate: T.Buffer((T.int64(1), T.int64(16), T.int64(16), T.int64(24)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        groups_cache = T.sblock_alloc_buffer((T.int64(1), T.int64(24), T.int64(256)), scope="local")
        for ax0_ax1_ax2_0_0_ax3_0_fused in T.parallel(T.int64(12)):
            for ax1_ax2_0_1 in range(T.int64(4)):
                for ax0 in T.unroll(T.int64(8)):
                    for ax1_0 in T.unroll(T.int64(2)):
                        for ax1_1 in T.vectorized(T.int64(8)):
                            with T.sblock("groups_cache"):
                                v_ax0 = T.axis.spatial(T.int64(1), T.int64(0))
                                v_ax1 = T.axis.spatial(T.int64(24), ax0_ax1_ax2_0_0_ax3_0_fused % T.int64(3) * T.int64(8) + ax0)
                                v_ax2 = T.axis.spatial(T.int64(256), ax0_ax1_ax2_0_0_ax3_0_fused // T.int64(3) * T.int64(64) + ax1_ax2_0_1 * T.int64(16) + ax1_0 * T.int64(8) + ax1_1)
                                T.reads(groups[T.int64(0), v_ax1 // T.int64(8), v_ax2 + v_ax1 % T.int64(8) * T.int64(256)])
                                T.writes(groups_cache[v_ax0, v_ax1, v_ax2])
                                groups_cache[v_ax0, v_ax1, v_ax2] = groups[T.int64(0), v_ax1 // T.int64(8), v_ax2 + v_ax1 % T.int64(8) * T.int64(256)]
                for ax1_ax2_1 in T.unroll(T.int64(16)):
                    for ax3_1 in T.unroll(T.int64(1)):
                        for ax3_2 in T.vectorized(T.int64(8)):
                            with T.sblock("T_transpose"):
                                v_ax0 = T.axis.spatial(T.int64(1), T.int64(0))
                                v_ax1_v_ax2 = T.axis.spatial(T.int64(256), ax0_ax1_ax2_0_0_ax3_0_fused // T.int64(3) * T.int64(64) + ax1_ax2_0_1 * T.int64(16) + ax1_ax2_1)
                                v_ax3 = T.axis.spatial(T.int64(24), ax0_ax1_ax2_0_0_ax3_0_fused % T.int64(3) * T.int64(8) + ax3_2)
                                T.reads(groups_cache[v_ax0, v_ax3, v_ax1_v_ax2], scale[v_ax3, T.int64(0), T.int64(0)])
                                T.writes(T_transpose_intermediate[v_ax0, v_ax1_v_ax2 // T.int64(16), v_ax1_v_ax2 % T.int64(16), v_ax3])
                                T_transpose_intermediate[v_ax0, v_ax1_v_ax2 // T.int64(16), v_ax1_v_ax2 % T.int64(16), v_ax3] = T.max(groups_cache[v_ax0, v_ax3, v_ax1_v_ax2] * scale[v_ax3, T.int64(0), T.int64(0)], T.float32(0.0))

    @R.function
    def main(groups: R.Tensor((1, 3, 2048), dtype="float32"), scale: R.Tensor((24, 1, 1), dtype="float32")) -> R.Tensor((1, 16, 16, 24), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.fused_reshape_multiply_relu_transpose, (groups, scale), out_ty=R.Tensor((1, 16, 16, 24), dtype="float32"))
            R.output(y)
        return y
