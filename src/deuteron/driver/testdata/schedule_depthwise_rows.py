# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ScheduleForCPU,DeadCodeElimination
# target: llvm -mcpu=x86-64-v4 -threads=2
# Rows of seven pixels: sums and planes with zeros around them lie where rows begin with a vector of their own.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 32, 7, 7), "float32"), w: R.Tensor((32, 1, 3, 3), "float32"), b: R.Tensor((1, 32, 1, 1), "float32")):
        with R.dataflow():
            conv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1], groups=32)
            sum = R.add(conv, b)
            relu = R.nn.relu(sum)
            R.output(relu)
        return relu
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_conv2d_add_relu(x: T.Buffer((T.int64(1), T.int64(32), T.int64(7), T.int64(7)), "float32"), w: T.Buffer((T.int64(32), T.int64(1), T.int64(3), T.int64(3)), "float32"), b: T.Buffer((T.int64(1), T.int64(32), T.int64(1), T.int64(1)), "float32"), compute_intermediate: T.Buffer((T.int64(1), T.int64(32), T.int64(7), T.int64(7)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        group_conv2d_nchw_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(7), T.int64(7)), scope="local")
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(9), T.int64(9)), scope="local")
        for nn_ff_fused in T.parallel(T.int64(32)):
            for ax0 in range(T.int64(9)):
                for ax1 in T.vectorized(T.int64(9)):
                    with T.sblock("pad_temp"):
                        v_i0 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_i1, v_i2, v_i3 = T.axis.remap("SSS", [nn_ff_fused, ax0, ax1])
                        T.reads(x[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)])
                        T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                        pad_temp[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(T.int64(1) <= v_i2 and v_i2 < T.int64(8) and T.int64(1) <= v_i3 and v_i3 < T.int64(8), x[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)], T.float32(0.0))
            for yy_0 in range(T.int64(1)):
                for yy_1 in T.unroll(T.int64(7)):
                    for xx in T.vectorized(T.int64(7)):
                        with T.sblock("group_conv2d_nchw_init"):
                            v_nn = T.axis.spatial(T.int64(1), T.int64(0))
                            v_ff, v_yy, v_xx = T.axis.remap("SSS", [nn_ff_fused, yy_1, xx])
                            T.reads()
                            T.writes(group_conv2d_nchw_intermediate[v_nn, v_ff, v_yy, v_xx])
                            group_conv2d_nchw_intermediate[v_nn, v_ff, v_yy, v_xx] = T.float32(0.0)
                for rc in T.unroll(T.int64(1)):
                    for ry in T.unroll(T.int64(3)):
                        for rx in T.unroll(T.int64(3)):
                            for yy_1 in T.unroll(T.int64(7)):
                                for xx in T.vectorized(T.int64(7)):
                                    with T.sblock("group_conv2d_nchw"):
                                        v_nn = T.axis.spatial(T.int64(1), T.int64(0))
                                        v_ff, v_yy, v_xx = T.axis.remap("SSS", [nn_ff_fused, yy_1, xx])
                                        v_rc = T.axis.reduce(T.int64(1), T.int64(0))
                                        v_ry, v_rx = T.axis.remap("RR", [ry, rx])
                                        T.reads(group_conv2d_nchw_intermediate[v_nn, v_ff, v_yy, v_xx], pad_temp[v_nn, v_ff + v_rc, v_yy + v_ry, v_xx + v_rx], w[v_ff, v_rc, v_ry, v_rx])
                                        T.writes(group_conv2d_nchw_intermediate[v_nn, v_ff, v_yy, v_xx])
                                        group_conv2d_nchw_intermediate[v_nn, v_ff, v_yy, v_xx] = group_conv2d_nchw_intermediate[v_nn, v_ff, v_yy, v_xx] + pad_temp[v_nn, v_ff + v_rc, v_yy + v_ry, v_xx + v_rx] * w[v_ff, v_rc, v_ry, v_rx]
                for ax0 in T.unroll(T.int64(7)):
                    for ax1 in T.vectorized(T.int64(7)):
                        with T.sblock("compute"):
                            v_i0 = T.axis.spatial(T.int64(1), T.int64(0))
                            v_i1, v_i2, v_i3 = T.axis.remap("SSS", [nn_ff_fused, ax0, ax1])
                            T.reads(group_conv2d_nchw_intermediate[v_i0, v_i1, v_i2, v_i3], b[v_i0, v_i1, T.int64(0), T.int64(0)])
                            T.writes(compute_intermediate[v_i0, v_i1, v_i2, v_i3])
                            compute_intermediate[v_i0, v_i1, v_i2, v_i3] = T.max(group_conv2d_nchw_intermediate[v_i0, v_i1, v_i2, v_i3] + b[v_i0, v_i1, T.int64(0), T.int64(0)], T.float32(0.0))

    @R.function
    def main(x: R.Tensor((1, 32, 7, 7), dtype="float32"), w: R.Tensor((32, 1, 3, 3), dtype="float32"), b: R.Tensor((1, 32, 1, 1), dtype="float32")) -> R.Tensor((1, 32, 7, 7), dtype="float32"):
        cls = Module
        with R.dataflow():
            relu = R.call_tir(cls.fused_conv2d_add_relu, (x, w, b), out_ty=R.Tensor((1, 32, 7, 7), dtype="float32"))
            R.output(relu)
        return relu
