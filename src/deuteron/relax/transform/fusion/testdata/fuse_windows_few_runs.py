# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseWindows
# target: llvm -mcpu=x86-64-v4 -threads=2 -l2-bytes=32768 -l3-bytes=0 -core-gbps=0.5 -memory-gbps=1
# config: expected_runs=1
# expect-remark: FuseWindows gate -> gv: few-runs
# expect: changes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 16, 16, 8), "float32"), w: R.Tensor((48, 8, 1, 1), "float32"), v: R.Tensor((3, 3, 48, 1), "float32")):
        with R.dataflow():
            wide = R.nn.conv2d(x, w, padding=[0, 0, 0, 0], data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
            gate = R.nn.relu(wide)
            gv = R.nn.conv2d(gate, v, padding=[1, 1, 1, 1], groups=48, data_layout="NHWC", kernel_layout="HWOI", out_layout="NHWC")
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
    def conv2d(x: T.Buffer((T.int64(1), T.int64(16), T.int64(16), T.int64(8)), "float32"), w: T.Buffer((T.int64(48), T.int64(8), T.int64(1), T.int64(1)), "float32"), conv2d_nhwc: T.Buffer((T.int64(1), T.int64(16), T.int64(16), T.int64(48)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(16), T.int64(16), T.int64(8)))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(16), T.int64(16), T.int64(8)):
            with T.sblock("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(x[v_i0, v_i1, v_i2, v_i3])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = x[v_i0, v_i1, v_i2, v_i3]
        for nn, yy, xx, ff, ry, rx, rc in T.grid(T.int64(1), T.int64(16), T.int64(16), T.int64(48), T.int64(1), T.int64(1), T.int64(8)):
            with T.sblock("conv2d_nhwc"):
                v_nn, v_yy, v_xx, v_ff, v_ry, v_rx, v_rc = T.axis.remap("SSSSRRR", [nn, yy, xx, ff, ry, rx, rc])
                T.reads(pad_temp[v_nn, v_yy + v_ry, v_xx + v_rx, v_rc], w[v_ff, v_rc, v_ry, v_rx])
                T.writes(conv2d_nhwc[v_nn, v_yy, v_xx, v_ff])
                with T.init():
                    conv2d_nhwc[v_nn, v_yy, v_xx, v_ff] = T.float32(0.0)
                conv2d_nhwc[v_nn, v_yy, v_xx, v_ff] = conv2d_nhwc[v_nn, v_yy, v_xx, v_ff] + pad_temp[v_nn, v_yy + v_ry, v_xx + v_rx, v_rc] * w[v_ff, v_rc, v_ry, v_rx]

    @T.prim_func(private=True, s_tir=True)
    def conv2d1(gate: T.Buffer((T.int64(1), T.int64(16), T.int64(16), T.int64(48)), "float32"), v: T.Buffer((T.int64(3), T.int64(3), T.int64(48), T.int64(1)), "float32"), group_conv2d_nhwc: T.Buffer((T.int64(1), T.int64(16), T.int64(16), T.int64(48)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(18), T.int64(18), T.int64(48)))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(18), T.int64(18), T.int64(48)):
            with T.sblock("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(gate[v_i0, v_i1 - T.int64(1), v_i2 - T.int64(1), v_i3])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(T.int64(1) <= v_i1 and v_i1 < T.int64(17) and T.int64(1) <= v_i2 and v_i2 < T.int64(17), gate[v_i0, v_i1 - T.int64(1), v_i2 - T.int64(1), v_i3], T.float32(0.0))
        for nn, yy, xx, ff, ry, rx, rc in T.grid(T.int64(1), T.int64(16), T.int64(16), T.int64(48), T.int64(3), T.int64(3), T.int64(1)):
            with T.sblock("group_conv2d_nhwc"):
                v_nn, v_yy, v_xx, v_ff, v_ry, v_rx, v_rc = T.axis.remap("SSSSRRR", [nn, yy, xx, ff, ry, rx, rc])
                T.reads(pad_temp[v_nn, v_yy + v_ry, v_xx + v_rx, v_ff + v_rc], v[v_ry, v_rx, v_ff, v_rc])
                T.writes(group_conv2d_nhwc[v_nn, v_yy, v_xx, v_ff])
                with T.init():
                    group_conv2d_nhwc[v_nn, v_yy, v_xx, v_ff] = T.float32(0.0)
                group_conv2d_nhwc[v_nn, v_yy, v_xx, v_ff] = group_conv2d_nhwc[v_nn, v_yy, v_xx, v_ff] + pad_temp[v_nn, v_yy + v_ry, v_xx + v_rx, v_ff + v_rc] * v[v_ry, v_rx, v_ff, v_rc]

    @T.prim_func(private=True, s_tir=True)
    def relu(wide: T.Buffer((T.int64(1), T.int64(16), T.int64(16), T.int64(48)), "float32"), compute: T.Buffer((T.int64(1), T.int64(16), T.int64(16), T.int64(48)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(16), T.int64(16), T.int64(48)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(wide[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute[v_i0, v_i1, v_i2, v_i3])
                compute[v_i0, v_i1, v_i2, v_i3] = T.max(wide[v_i0, v_i1, v_i2, v_i3], T.float32(0.0))

    @R.function(private=True)
    def fused_conv2d_relu(x: R.Tensor((1, 16, 16, 8), dtype="float32"), w: R.Tensor((48, 8, 1, 1), dtype="float32")) -> R.Tensor((1, 16, 16, 48), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            wide = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 16, 16, 48), dtype="float32"))
            gate = R.call_tir(cls.relu, (wide,), out_ty=R.Tensor((1, 16, 16, 48), dtype="float32"))
            R.output(gate)
        return gate

    @R.function
    def main(x: R.Tensor((1, 16, 16, 8), dtype="float32"), w: R.Tensor((48, 8, 1, 1), dtype="float32"), v: R.Tensor((3, 3, 48, 1), dtype="float32")) -> R.Tensor((1, 16, 16, 48), dtype="float32"):
        cls = Module
        with R.dataflow():
            gate: R.Tensor((1, 16, 16, 48), dtype="float32") = cls.fused_conv2d_relu(x, w)
            gv = R.call_tir(cls.conv2d1, (gate, v), out_ty=R.Tensor((1, 16, 16, 48), dtype="float32"))
            R.output(gv)
        return gv
