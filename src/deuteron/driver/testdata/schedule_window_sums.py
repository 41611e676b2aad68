# run: ScheduleForCPU
# target: llvm -mcpu=sapphirerapids -threads=2
# A matrix unit keeps the whole sum of a window in its registers: blocks of channels, which lie by themselves in the padded image, then the window.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_conv2d_add_relu(lv1: T.Buffer((T.int64(1), T.int64(32), T.int64(32), T.int64(32)), "int32"), param_0: T.Buffer((T.int64(3), T.int64(3), T.int64(32), T.int64(32)), "int32"), param_1: T.Buffer((T.int64(1), T.int64(1), T.int64(1), T.int64(32)), "float32"), compute_intermediate: T.Buffer((T.int64(1), T.int64(32), T.int64(32), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(34), T.int64(34), T.int64(32)), "int32")
        conv2d_nhwc_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(32), T.int64(32)))
        T_add_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(32), T.int64(32)))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(34), T.int64(34), T.int64(32)):
            with T.sblock("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(lv1[v_i0, v_i1 - T.int64(1), v_i2 - T.int64(1), v_i3])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(T.int64(1) <= v_i1 and v_i1 < T.int64(33) and T.int64(1) <= v_i2 and v_i2 < T.int64(33), lv1[v_i0, v_i1 - T.int64(1), v_i2 - T.int64(1), v_i3], 0)
        for nn, yy, xx, ff, ry, rx, rc in T.grid(T.int64(1), T.int64(32), T.int64(32), T.int64(32), T.int64(3), T.int64(3), T.int64(32)):
            with T.sblock("conv2d_nhwc"):
                v_nn, v_yy, v_xx, v_ff, v_ry, v_rx, v_rc = T.axis.remap("SSSSRRR", [nn, yy, xx, ff, ry, rx, rc])
                T.reads(pad_temp[v_nn, v_yy + v_ry, v_xx + v_rx, v_rc], param_0[v_ry, v_rx, v_rc, v_ff])
                T.writes(conv2d_nhwc_intermediate[v_nn, v_yy, v_xx, v_ff])
                with T.init():
                    conv2d_nhwc_intermediate[v_nn, v_yy, v_xx, v_ff] = T.float32(0.0)
                conv2d_nhwc_intermediate[v_nn, v_yy, v_xx, v_ff] = conv2d_nhwc_intermediate[v_nn, v_yy, v_xx, v_ff] + T.dot_bf16x2(pad_temp[v_nn, v_yy + v_ry, v_xx + v_rx, v_rc], param_0[v_ry, v_rx, v_rc, v_ff])
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(32), T.int64(32)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(conv2d_nhwc_intermediate[v_ax0, v_ax1, v_ax2, v_ax3], param_1[v_ax0, T.int64(0), T.int64(0), v_ax3])
                T.writes(T_add_intermediate[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add_intermediate[v_ax0, v_ax1, v_ax2, v_ax3] = conv2d_nhwc_intermediate[v_ax0, v_ax1, v_ax2, v_ax3] + param_1[v_ax0, T.int64(0), T.int64(0), v_ax3]
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(32), T.int64(32), T.int64(32)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(T_add_intermediate[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute_intermediate[v_i0, v_i1, v_i2, v_i3])
                compute_intermediate[v_i0, v_i1, v_i2, v_i3] = T.max(T_add_intermediate[v_i0, v_i1, v_i2, v_i3], T.float32(0.0))
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_conv2d_add_relu(lv1: T.Buffer((T.int64(1), T.int64(32), T.int64(32), T.int64(32)), "int32"), param_0: T.Buffer((T.int64(3), T.int64(3), T.int64(32), T.int64(32)), "int32"), param_1: T.Buffer((T.int64(1), T.int64(1), T.int64(1), T.int64(32)), "float32"), compute_intermediate: T.Buffer((T.int64(1), T.int64(32), T.int64(32), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(34), T.int64(34), T.int64(16)), "int32")
        conv2d_nhwc_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(32), T.int64(32)), scope="local")
        for nn_yy_0_xx_0_0_fused in T.parallel(T.int64(8)):
            for ax1, ax0, ax2 in T.grid(T.int64(6), T.int64(2), T.int64(34)):
                for ax3 in T.vectorized(T.int64(16)):
                    with T.sblock("pad_temp"):
                        v_l0 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_l1 = T.axis.spatial(T.int64(2), ax0)
                        v_l2 = T.axis.spatial(T.int64(34), nn_yy_0_xx_0_0_fused * T.int64(4) + ax1)
                        v_l3, v_l4 = T.axis.remap("SS", [ax2, ax3])
                        T.reads(lv1[T.int64(0), v_l2 - T.int64(1), v_l3 - T.int64(1), v_l1 * T.int64(16) + v_l4])
                        T.writes(pad_temp[T.int64(0), v_l1, v_l2, v_l3, v_l4])
                        pad_temp[T.int64(0), v_l1, v_l2, v_l3, v_l4] = T.if_then_else(T.int64(0) < v_l2 and v_l2 < T.int64(33) and T.int64(0) < v_l3 and v_l3 < T.int64(33), lv1[T.int64(0), v_l2 - T.int64(1), v_l3 - T.int64(1), v_l1 * T.int64(16) + v_l4], 0)
            for ff_0 in range(T.int64(1)):
                for yy_1 in T.serial(T.int64(4), annotations={"prefetch_next": 1}):
                    for xx_0_1 in range(T.int64(1)):
                        for ff_1 in range(T.int64(1)):
                            for xx_1, ff_2_0 in T.grid(T.int64(32), T.int64(2)):
                                for ff_2_1 in T.vectorized(T.int64(16)):
                                    with T.sblock("conv2d_nhwc_init"):
                                        v_nn = T.axis.spatial(T.int64(1), T.int64(0))
                                        v_yy = T.axis.spatial(T.int64(32), nn_yy_0_xx_0_0_fused * T.int64(4) + yy_1)
                                        v_xx = T.axis.spatial(T.int64(32), xx_1)
                                        v_ff = T.axis.spatial(T.int64(32), ff_2_0 * T.int64(16) + ff_2_1)
                                        T.reads()
                                        T.writes(conv2d_nhwc_intermediate[T.int64(0), v_yy, v_xx, v_ff])
                                        conv2d_nhwc_intermediate[T.int64(0), v_yy, v_xx, v_ff] = T.float32(0.0)
                            for rc_1_0 in range(T.int64(1)):
                                for rc_0 in T.serial(T.int64(2), annotations={"matrix_tile": 4}):
                                    for ry, rx, rc_1_1, xx_1, ff_2 in T.grid(T.int64(3), T.int64(3), T.int64(16), T.int64(32), T.int64(32)):
                                        with T.sblock("conv2d_nhwc"):
                                            v_nn = T.axis.spatial(T.int64(1), T.int64(0))
                                            v_yy = T.axis.spatial(T.int64(32), nn_yy_0_xx_0_0_fused * T.int64(4) + yy_1)
                                            v_xx, v_ff, v_ry, v_rx, v_rc_o, v_rc_i = T.axis.remap("SSRRRR", [xx_1, ff_2, ry, rx, rc_0, rc_1_1])
                                            T.reads(conv2d_nhwc_intermediate[T.int64(0), v_yy, v_xx, v_ff], pad_temp[T.int64(0), v_rc_o, v_yy + v_ry, v_xx + v_rx, v_rc_i], param_0[v_ry, v_rx, v_rc_o * T.int64(16) + v_rc_i, v_ff])
                                            T.writes(conv2d_nhwc_intermediate[T.int64(0), v_yy, v_xx, v_ff])
                                            conv2d_nhwc_intermediate[T.int64(0), v_yy, v_xx, v_ff] = conv2d_nhwc_intermediate[T.int64(0), v_yy, v_xx, v_ff] + T.dot_bf16x2(pad_temp[T.int64(0), v_rc_o, v_yy + v_ry, v_xx + v_rx, v_rc_i], param_0[v_ry, v_rx, v_rc_o * T.int64(16) + v_rc_i, v_ff])
                        for ax0, ax1_0 in T.grid(T.int64(32), T.int64(2)):
                            for ax1_1 in T.vectorized(T.int64(16)):
                                with T.sblock("compute"):
                                    v_i0 = T.axis.spatial(T.int64(1), T.int64(0))
                                    v_i1 = T.axis.spatial(T.int64(32), nn_yy_0_xx_0_0_fused * T.int64(4) + yy_1)
                                    v_i2 = T.axis.spatial(T.int64(32), ax0)
                                    v_i3 = T.axis.spatial(T.int64(32), ax1_0 * T.int64(16) + ax1_1)
                                    T.reads(conv2d_nhwc_intermediate[v_i0, v_i1, v_i2, v_i3], param_1[v_i0, T.int64(0), T.int64(0), v_i3])
                                    T.writes(compute_intermediate[v_i0, v_i1, v_i2, v_i3])
                                    compute_intermediate[v_i0, v_i1, v_i2, v_i3] = T.max(conv2d_nhwc_intermediate[v_i0, v_i1, v_i2, v_i3] + param_1[v_i0, T.int64(0), T.int64(0), v_i3], T.float32(0.0))
