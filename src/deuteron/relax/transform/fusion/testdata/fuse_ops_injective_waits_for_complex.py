# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            b = R.nn.relu(a)
            c = R.permute_dims(b, axes=[0, 2, 3, 1])
            d = R.exp(c)
            gv = R.reshape(d, R.shape([64, 4]))
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
    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(4), T.int64(10), T.int64(10)))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), T.int64(10), T.int64(10)):
            with T.sblock("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(x[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(T.int64(1) <= v_i2 and v_i2 < T.int64(9) and T.int64(1) <= v_i3 and v_i3 < T.int64(9), x[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)], T.float32(0.0))
        for nn, ff, yy, xx, rc, ry, rx in T.grid(T.int64(1), T.int64(4), T.int64(8), T.int64(8), T.int64(4), T.int64(3), T.int64(3)):
            with T.sblock("conv2d_nchw"):
                v_nn, v_ff, v_yy, v_xx, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [nn, ff, yy, xx, rc, ry, rx])
                T.reads(pad_temp[v_nn, v_rc, v_yy + v_ry, v_xx + v_rx], w[v_ff, v_rc, v_ry, v_rx])
                T.writes(conv2d_nchw[v_nn, v_ff, v_yy, v_xx])
                with T.init():
                    conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = T.float32(0.0)
                conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = conv2d_nchw[v_nn, v_ff, v_yy, v_xx] + pad_temp[v_nn, v_rc, v_yy + v_ry, v_xx + v_rx] * w[v_ff, v_rc, v_ry, v_rx]

    @T.prim_func(private=True, s_tir=True)
    def relu(a: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(a[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute[v_i0, v_i1, v_i2, v_i3])
                compute[v_i0, v_i1, v_i2, v_i3] = T.max(a[v_i0, v_i1, v_i2, v_i3], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def reshape(d: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32"), T_reshape: T.Buffer((T.int64(64), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(4)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(d[T.int64(0), v_ax0 // T.int64(8), v_ax0 % T.int64(8), v_ax1])
                T.writes(T_reshape[v_ax0, v_ax1])
                T_reshape[v_ax0, v_ax1] = d[T.int64(0), v_ax0 // T.int64(8), v_ax0 % T.int64(8), v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32"), compute: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(8), T.int64(8), T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(c[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute[v_i0, v_i1, v_i2, v_i3])
                compute[v_i0, v_i1, v_i2, v_i3] = T.exp(c[v_i0, v_i1, v_i2, v_i3])

    @T.prim_func(private=True, s_tir=True)
    def transpose(b: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), T_transpose: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(8), T.int64(8), T.int64(4)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(b[v_ax0, v_ax3, v_ax1, v_ax2])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = b[v_ax0, v_ax3, v_ax1, v_ax2]

    @R.function(private=True)
    def fused_conv2d_relu(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            b = R.call_tir(cls.relu, (a,), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            R.output(b)
        return b

    @R.function(private=True)
    def fused_transpose_tir_exp_reshape(b: R.Tensor((1, 4, 8, 8), dtype="float32")) -> R.Tensor((64, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.transpose, (b,), out_ty=R.Tensor((1, 8, 8, 4), dtype="float32"))
            d = R.call_tir(cls.tir_exp, (c,), out_ty=R.Tensor((1, 8, 8, 4), dtype="float32"))
            gv = R.call_tir(cls.reshape, (d,), out_ty=R.Tensor((64, 4), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor((64, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((1, 4, 8, 8), dtype="float32") = cls.fused_conv2d_relu(x, w)
            gv: R.Tensor((64, 4), dtype="float32") = cls.fused_transpose_tir_exp_reshape(b)
            R.output(gv)
        return gv
