# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ScheduleForCPU,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3 -threads=2
# Parts of 134 do not divide a sum of 400: that a channel is less is what a condition tells. An image without padding is
# read as it is, at that channel.
@I.ir_module
class Module:
    @R.function
    def main(image: R.Tensor((1, 400, 8, 8), "float32"), w: R.Tensor((32, 400, 1, 1), "float32")):
        with R.dataflow():
            sums = R.nn.conv2d(image, w)
            y = R.nn.relu(sums)
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
    def fused_conv2d_relu(image: T.Buffer((T.int64(1), T.int64(400), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(32), T.int64(400), T.int64(1), T.int64(1)), "float32"), compute_intermediate: T.Buffer((T.int64(1), T.int64(32), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        conv2d_nchw_intermediate_rf = T.sblock_alloc_buffer((T.int64(4), T.int64(1), T.int64(32), T.int64(64)), scope="local")
        conv2d_nchw_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(64)), scope="local")
        for nn_ff_0_0_yy_xx_0_fused in T.parallel(T.int64(16)):
            for ff_0_1 in T.serial(T.int64(2), annotations={"prefetch_rows": 1}):
                for ax0 in T.unroll(T.int64(4)):
                    for ax1_0 in T.unroll(T.int64(2)):
                        for ax1_1 in T.vectorized(T.int64(8)):
                            with T.sblock("conv2d_nchw_init"):
                                v_nn = T.axis.spatial(T.int64(1), T.int64(0))
                                v_ff = T.axis.spatial(T.int64(32), nn_ff_0_0_yy_xx_0_fused // T.int64(4) * T.int64(8) + ff_0_1 * T.int64(4) + ax0)
                                v_yy_v_xx = T.axis.spatial(T.int64(64), nn_ff_0_0_yy_xx_0_fused % T.int64(4) * T.int64(16) + ax1_0 * T.int64(8) + ax1_1)
                                T.reads()
                                T.writes(conv2d_nchw_intermediate[T.int64(0), v_ff, v_yy_v_xx])
                                conv2d_nchw_intermediate[T.int64(0), v_ff, v_yy_v_xx] = T.float32(0.0)
                for rc_0 in range(T.int64(4)):
                    for ff_1 in T.unroll(T.int64(4)):
                        for yy_xx_1 in T.unroll(T.int64(2)):
                            for yy_xx_2 in T.vectorized(T.int64(8)):
                                with T.sblock("conv2d_nchw_rf_init"):
                                    v_nn = T.axis.spatial(T.int64(1), T.int64(0))
                                    v_ff = T.axis.spatial(T.int64(32), nn_ff_0_0_yy_xx_0_fused // T.int64(4) * T.int64(8) + ff_0_1 * T.int64(4) + ff_1)
                                    v_yy_v_xx = T.axis.spatial(T.int64(64), nn_ff_0_0_yy_xx_0_fused % T.int64(4) * T.int64(16) + yy_xx_1 * T.int64(8) + yy_xx_2)
                                    v_rc_0 = T.axis.spatial(T.int64(4), rc_0)
                                    T.reads()
                                    T.writes(conv2d_nchw_intermediate_rf[v_rc_0, T.int64(0), v_ff, v_yy_v_xx])
                                    conv2d_nchw_intermediate_rf[v_rc_0, T.int64(0), v_ff, v_yy_v_xx] = T.float32(0.0)
                    for rc_1 in T.serial(T.int64(100), annotations={"pragma_no_unroll": 1, "prefetch_steps": 58}):
                        for ry in T.serial(T.int64(1), annotations={"pragma_no_unroll": 1}):
                            for rx in T.serial(T.int64(1), annotations={"pragma_no_unroll": 1}):
                                for ff_1 in T.unroll(T.int64(4)):
                                    for yy_xx_1 in T.unroll(T.int64(2)):
                                        for yy_xx_2 in T.vectorized(T.int64(8)):
                                            with T.sblock("conv2d_nchw_rf"):
                                                v_nn = T.axis.spatial(T.int64(1), T.int64(0))
                                                v_ff = T.axis.spatial(T.int64(32), nn_ff_0_0_yy_xx_0_fused // T.int64(4) * T.int64(8) + ff_0_1 * T.int64(4) + ff_1)
                                                v_yy_v_xx = T.axis.spatial(T.int64(64), nn_ff_0_0_yy_xx_0_fused % T.int64(4) * T.int64(16) + yy_xx_1 * T.int64(8) + yy_xx_2)
                                                v_rc_0, v_rc_1 = T.axis.remap("SR", [rc_0, rc_1])
                                                T.reads(conv2d_nchw_intermediate_rf[v_rc_0, T.int64(0), v_ff, v_yy_v_xx], image[T.int64(0), v_rc_0 * T.int64(100) + v_rc_1, v_yy_v_xx // T.int64(8), v_yy_v_xx % T.int64(8)], w[v_ff, v_rc_0 * T.int64(100) + v_rc_1, T.int64(0), T.int64(0)])
                                                T.writes(conv2d_nchw_intermediate_rf[v_rc_0, T.int64(0), v_ff, v_yy_v_xx])
                                                conv2d_nchw_intermediate_rf[v_rc_0, T.int64(0), v_ff, v_yy_v_xx] = conv2d_nchw_intermediate_rf[v_rc_0, T.int64(0), v_ff, v_yy_v_xx] + image[T.int64(0), v_rc_0 * T.int64(100) + v_rc_1, v_yy_v_xx // T.int64(8), v_yy_v_xx % T.int64(8)] * w[v_ff, v_rc_0 * T.int64(100) + v_rc_1, T.int64(0), T.int64(0)]
                    for ax0 in T.unroll(T.int64(4)):
                        for ax1_0 in T.unroll(T.int64(2)):
                            for ax1_1 in T.vectorized(T.int64(8)):
                                with T.sblock("conv2d_nchw"):
                                    v_nn = T.axis.spatial(T.int64(1), T.int64(0))
                                    v_ff = T.axis.spatial(T.int64(32), nn_ff_0_0_yy_xx_0_fused // T.int64(4) * T.int64(8) + ff_0_1 * T.int64(4) + ax0)
                                    v_yy_v_xx = T.axis.spatial(T.int64(64), nn_ff_0_0_yy_xx_0_fused % T.int64(4) * T.int64(16) + ax1_0 * T.int64(8) + ax1_1)
                                    v_rc_0 = T.axis.reduce(T.int64(4), rc_0)
                                    T.reads(conv2d_nchw_intermediate[T.int64(0), v_ff, v_yy_v_xx], conv2d_nchw_intermediate_rf[v_rc_0, T.int64(0), v_ff, v_yy_v_xx])
                                    T.writes(conv2d_nchw_intermediate[T.int64(0), v_ff, v_yy_v_xx])
                                    conv2d_nchw_intermediate[T.int64(0), v_ff, v_yy_v_xx] = conv2d_nchw_intermediate[T.int64(0), v_ff, v_yy_v_xx] + conv2d_nchw_intermediate_rf[v_rc_0, T.int64(0), v_ff, v_yy_v_xx]
                for ax0 in T.unroll(T.int64(4)):
                    for ax1_0 in T.unroll(T.int64(2)):
                        for ax1_1 in T.vectorized(T.int64(8)):
                            with T.sblock("compute"):
                                v_i0 = T.axis.spatial(T.int64(1), T.int64(0))
                                v_i1 = T.axis.spatial(T.int64(32), nn_ff_0_0_yy_xx_0_fused // T.int64(4) * T.int64(8) + ff_0_1 * T.int64(4) + ax0)
                                v_i2_v_i3 = T.axis.spatial(T.int64(64), nn_ff_0_0_yy_xx_0_fused % T.int64(4) * T.int64(16) + ax1_0 * T.int64(8) + ax1_1)
                                T.reads(conv2d_nchw_intermediate[v_i0, v_i1, v_i2_v_i3])
                                T.writes(compute_intermediate[v_i0, v_i1, v_i2_v_i3 // T.int64(8), v_i2_v_i3 % T.int64(8)])
                                compute_intermediate[v_i0, v_i1, v_i2_v_i3 // T.int64(8), v_i2_v_i3 % T.int64(8)] = T.max(conv2d_nchw_intermediate[v_i0, v_i1, v_i2_v_i3], T.float32(0.0))

    @R.function
    def main(image: R.Tensor((1, 400, 8, 8), dtype="float32"), w: R.Tensor((32, 400, 1, 1), dtype="float32")) -> R.Tensor((1, 32, 8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.fused_conv2d_relu, (image, w), out_ty=R.Tensor((1, 32, 8, 8), dtype="float32"))
            R.output(y)
        return y
