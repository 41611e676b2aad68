# run: DecomposeOpsForInference,LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32"), c: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            u = R.nn.batch_norm(a, c, c, c, c, axis=1)
            u0 = u[0]
            gv = R.nn.relu(u0)
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
    def add(lv2: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(1), T.int64(1)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(lv2[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add[v_ax0, v_ax1, v_ax2, v_ax3] = lv2[v_ax0, v_ax1, v_ax2, v_ax3] + T.float32(9.999999747378752e-06)

    @T.prim_func(private=True, s_tir=True)
    def add1(lv7: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv8: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(lv7[v_ax0, v_ax1, v_ax2, v_ax3], lv8[v_ax0, v_ax1, T.int64(0), T.int64(0)])
                T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add[v_ax0, v_ax1, v_ax2, v_ax3] = lv7[v_ax0, v_ax1, v_ax2, v_ax3] + lv8[v_ax0, v_ax1, T.int64(0), T.int64(0)]

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
    def divide(lv1: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv4: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_divide: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(lv1[v_ax0, v_ax1, v_ax2, v_ax3], lv4[v_ax0, v_ax1, T.int64(0), T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1, v_ax2, v_ax3])
                T_divide[v_ax0, v_ax1, v_ax2, v_ax3] = lv1[v_ax0, v_ax1, v_ax2, v_ax3] / lv4[v_ax0, v_ax1, T.int64(0), T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def expand_dims(c: T.Buffer((T.int64(4),), "float32"), expand_dims: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 1, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), T.int64(1), T.int64(1)):
            with T.sblock("expand_dims"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(c[v_i1])
                T.writes(expand_dims[v_i0, v_i1, v_i2, v_i3])
                expand_dims[v_i0, v_i1, v_i2, v_i3] = c[v_i1]

    @T.prim_func(private=True, s_tir=True)
    def multiply(lv5: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv6: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(lv5[v_ax0, v_ax1, v_ax2, v_ax3], lv6[v_ax0, v_ax1, T.int64(0), T.int64(0)])
                T.writes(T_multiply[v_ax0, v_ax1, v_ax2, v_ax3])
                T_multiply[v_ax0, v_ax1, v_ax2, v_ax3] = lv5[v_ax0, v_ax1, v_ax2, v_ax3] * lv6[v_ax0, v_ax1, T.int64(0), T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def relu(lv9: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(lv9[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute[v_i0, v_i1, v_i2, v_i3])
                compute[v_i0, v_i1, v_i2, v_i3] = T.max(lv9[v_i0, v_i1, v_i2, v_i3], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def subtract(a: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(a[v_ax0, v_ax1, v_ax2, v_ax3], lv[v_ax0, v_ax1, T.int64(0), T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1, v_ax2, v_ax3])
                T_subtract[v_ax0, v_ax1, v_ax2, v_ax3] = a[v_ax0, v_ax1, v_ax2, v_ax3] - lv[v_ax0, v_ax1, T.int64(0), T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def tir_sqrt(lv3: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), T.int64(1), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(lv3[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute[v_i0, v_i1, v_i2, v_i3])
                compute[v_i0, v_i1, v_i2, v_i3] = T.sqrt(lv3[v_i0, v_i1, v_i2, v_i3])

    @R.function(private=True)
    def fused_conv2d_expand_dims_subtract_expand_dims_add_tir_sqrt_divide_expand_dims_multiply_expand_dims_add1_relu(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32"), c: R.Tensor((4,), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv1 = R.call_tir(cls.subtract, (a, lv), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv2 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv3 = R.call_tir(cls.add, (lv2,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv4 = R.call_tir(cls.tir_sqrt, (lv3,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv5 = R.call_tir(cls.divide, (lv1, lv4), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv6 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv7 = R.call_tir(cls.multiply, (lv5, lv6), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv8 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv9 = R.call_tir(cls.add1, (lv7, lv8), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            gv = R.call_tir(cls.relu, (lv9,), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32"), c: R.Tensor((4,), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((1, 4, 8, 8), dtype="float32") = cls.fused_conv2d_expand_dims_subtract_expand_dims_add_tir_sqrt_divide_expand_dims_multiply_expand_dims_add1_relu(x, w, c)
            R.output(gv)
        return gv
