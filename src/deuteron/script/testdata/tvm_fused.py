# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def concatenate(lv1: T.Buffer(("n + k", T.int64(4)), "float32"), lv3: T.Buffer((n, T.int64(4)), "float32"), k: T.int64, T_concat: T.Buffer(("n * T.int64(2) + k", T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(n * T.int64(2) + k, T.int64(4)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv3[v_ax0 - n - k, v_ax1], lv1[v_ax0, v_ax1])
                T.writes(T_concat[v_ax0, v_ax1])
                T_concat[v_ax0, v_ax1] = T.if_then_else(T.int64(0) <= v_ax0 - n - k, lv3[v_ax0 - n - k, v_ax1], lv1[v_ax0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(3), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(3), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(3), T.int64(10), T.int64(10)))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(3), T.int64(10), T.int64(10)):
            with T.sblock("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(x[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(T.int64(1) <= v_i2 and v_i2 < T.int64(9) and T.int64(1) <= v_i3 and v_i3 < T.int64(9), x[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)], T.float32(0.0))
        for nn, ff, yy, xx, rc, ry, rx in T.grid(T.int64(1), T.int64(4), T.int64(8), T.int64(8), T.int64(3), T.int64(3), T.int64(3)):
            with T.sblock("conv2d_nchw"):
                v_nn, v_ff, v_yy, v_xx, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [nn, ff, yy, xx, rc, ry, rx])
                T.reads(pad_temp[v_nn, v_rc, v_yy + v_ry, v_xx + v_rx], w[v_ff, v_rc, v_ry, v_rx])
                T.writes(conv2d_nchw[v_nn, v_ff, v_yy, v_xx])
                with T.init():
                    conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = T.float32(0.0)
                conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = conv2d_nchw[v_nn, v_ff, v_yy, v_xx] + pad_temp[v_nn, v_rc, v_yy + v_ry, v_xx + v_rx] * w[v_ff, v_rc, v_ry, v_rx]

    @T.prim_func(private=True, s_tir=True)
    def full(n: T.int64, k: T.int64, T_full: T.Buffer((n + k, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(n + k, T.int64(4)):
            with T.sblock("T_full"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads()
                T.writes(T_full[v_ax0, v_ax1])
                T_full[v_ax0, v_ax1] = T.float32(3.0)

    @T.prim_func(private=True, s_tir=True)
    def fused_add_relu(x: T.Buffer((n, T.int64(4)), "float32"), y: T.Buffer((n, T.int64(4)), "float32"), compute_intermediate: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_add_intermediate = T.sblock_alloc_buffer((n, T.int64(4)))
        for ax0, ax1 in T.grid(n, T.int64(4)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], y[v_ax0, v_ax1])
                T.writes(T_add_intermediate[v_ax0, v_ax1])
                T_add_intermediate[v_ax0, v_ax1] = x[v_ax0, v_ax1] + y[v_ax0, v_ax1]
        for i0, i1 in T.grid(n, T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_add_intermediate[v_i0, v_i1])
                T.writes(compute_intermediate[v_i0, v_i1])
                compute_intermediate[v_i0, v_i1] = T.max(T_add_intermediate[v_i0, v_i1], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def softmax(lv2: T.Buffer((n, T.int64(4)), "float32"), T_softmax_norm: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((n,))
        T_softmax_exp = T.sblock_alloc_buffer((n, T.int64(4)))
        T_softmax_expsum = T.sblock_alloc_buffer((n,))
        for i0, k in T.grid(n, T.int64(4)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(lv2[v_i0, v_k])
                T.writes(T_softmax_maxelem[v_i0])
                with T.init():
                    T_softmax_maxelem[v_i0] = T.float32(-340282346638528859811704183484516925440.0)
                T_softmax_maxelem[v_i0] = T.max(T_softmax_maxelem[v_i0], lv2[v_i0, v_k])
        for i0, i1 in T.grid(n, T.int64(4)):
            with T.sblock("T_softmax_exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(lv2[v_i0, v_i1], T_softmax_maxelem[v_i0])
                T.writes(T_softmax_exp[v_i0, v_i1])
                T_softmax_exp[v_i0, v_i1] = T.exp(lv2[v_i0, v_i1] - T_softmax_maxelem[v_i0])
        for i0, k in T.grid(n, T.int64(4)):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(T_softmax_exp[v_i0, v_k])
                T.writes(T_softmax_expsum[v_i0])
                with T.init():
                    T_softmax_expsum[v_i0] = T.float32(0.0)
                T_softmax_expsum[v_i0] = T_softmax_expsum[v_i0] + T_softmax_exp[v_i0, v_k]
        for i0, i1 in T.grid(n, T.int64(4)):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_softmax_exp[v_i0, v_i1], T_softmax_expsum[v_i0])
                T.writes(T_softmax_norm[v_i0, v_i1])
                T.sblock_attr({"axis": 1})
                T_softmax_norm[v_i0, v_i1] = T_softmax_exp[v_i0, v_i1] / T_softmax_expsum[v_i0]

    @T.prim_func(private=True, s_tir=True)
    def strided_slice(lv4: T.Buffer(("n * T.int64(2) + k", T.int64(4)), "float32"), n: T.int64, k: T.int64, T_dynamic_strided_slice_with_axes: T.Buffer((T.min(T.max(T.if_then_else(n < T.int64(1), n * T.int64(4) + k - T.int64(1), n * T.int64(2) - T.int64(1)), T.int64(0)), n * T.int64(2) + k) - T.min(T.int64(0), n * T.int64(2) + k), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.min(T.max(T.if_then_else(n < T.int64(1), n * T.int64(4) + k - T.int64(1), n * T.int64(2) - T.int64(1)), T.int64(0)), n * T.int64(2) + k) - T.min(T.int64(0), n * T.int64(2) + k), T.int64(4)):
            with T.sblock("T_dynamic_strided_slice_with_axes"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv4[T.min(T.int64(0), n * T.int64(2) + k) + v_ax0, v_ax1])
                T.writes(T_dynamic_strided_slice_with_axes[v_ax0, v_ax1])
                T_dynamic_strided_slice_with_axes[v_ax0, v_ax1] = lv4[T.min(T.int64(0), n * T.int64(2) + k) + v_ax0, v_ax1]

    @R.function
    def conv(x: R.Tensor((1, 3, 8, 8), dtype="float32"), w: R.Tensor((4, 3, 3, 3), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        cls = Module
        y = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
        R.call_packed("relax.run.print", R.str("{}"), x, ty_args=(R.Tuple,))
        return y

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((n, 4), dtype="float32"), m: R.Shape([k])) -> R.Tensor(("T.min(T.max(T.if_then_else(n < 1, n * 4 + k - 1, n * 2 - 1), 0), n * 2 + k) - T.min(0, n * 2 + k)", 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.fused_add_relu, (x, y), out_ty=R.Tensor((n, 4), dtype="float32"))
            lv1 = R.call_tir(cls.full, (n, k), out_ty=R.Tensor((n + k, 4), dtype="float32"))
            lv3 = R.call_tir(cls.softmax, (lv,), out_ty=R.Tensor((n, 4), dtype="float32"))
            lv4 = R.call_tir(cls.concatenate, (lv1, lv3, k), out_ty=R.Tensor((n * 2 + k, 4), dtype="float32"))
            lv5 = R.call_tir(cls.strided_slice, (lv4, n, k), out_ty=R.Tensor((T.min(T.max(T.if_then_else(n < 1, n * 4 + k - 1, n * 2 - 1), 0), n * 2 + k) - T.min(0, n * 2 + k), 4), dtype="float32"))
            R.output(lv5)
        return lv5
