# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ShareKernels
# config: expected_runs=1
# expect: changes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), "uint8")):
        # Zero points are numbers; what is around an image is none.
        a = R.quantize(R.dequantize(x, R.const(0.25, "float32"), R.const(3, "uint8")), R.const(0.5, "float32"), R.const(4, "uint8"), out_dtype="uint8")
        b = R.quantize(R.dequantize(a, R.const(0.75, "float32"), R.const(7, "uint8")), R.const(0.5, "float32"), R.const(9, "uint8"), out_dtype="uint8")
        c = R.nn.pad(b, [0, 0, 0, 0, 1, 1, 1, 1], pad_value=9)
        d = R.nn.pad(b, [0, 0, 0, 0, 1, 1, 1, 1], pad_value=8)
        return (c, d)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def dequantize(x: T.Buffer((T.int64(1), T.int64(2), T.int64(4), T.int64(4)), "uint8"), number_0: T.Buffer((), "int32"), number_1: T.Buffer((), "float32"), dequantized: T.Buffer((T.int64(1), T.int64(2), T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(4)):
            with T.sblock("dequantized"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(x[v_i0, v_i1, v_i2, v_i3], number_0[()], number_1[()])
                T.writes(dequantized[v_i0, v_i1, v_i2, v_i3])
                dequantized[v_i0, v_i1, v_i2, v_i3] = T.Cast("float32", T.Cast("int32", x[v_i0, v_i1, v_i2, v_i3]) - number_0[()]) * number_1[()]

    @T.prim_func(private=True, s_tir=True)
    def pad(b: T.Buffer((T.int64(1), T.int64(2), T.int64(4), T.int64(4)), "uint8"), PadInput: T.Buffer((T.int64(1), T.int64(2), T.int64(6), T.int64(6)), "uint8")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(6), T.int64(6)):
            with T.sblock("PadInput"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(b[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)])
                T.writes(PadInput[v_i0, v_i1, v_i2, v_i3])
                PadInput[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(T.int64(1) <= v_i2 and v_i2 < T.int64(5) and T.int64(1) <= v_i3 and v_i3 < T.int64(5), b[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)], T.uint8(9))

    @T.prim_func(private=True, s_tir=True)
    def pad1(b: T.Buffer((T.int64(1), T.int64(2), T.int64(4), T.int64(4)), "uint8"), PadInput: T.Buffer((T.int64(1), T.int64(2), T.int64(6), T.int64(6)), "uint8")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(6), T.int64(6)):
            with T.sblock("PadInput"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(b[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)])
                T.writes(PadInput[v_i0, v_i1, v_i2, v_i3])
                PadInput[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(T.int64(1) <= v_i2 and v_i2 < T.int64(5) and T.int64(1) <= v_i3 and v_i3 < T.int64(5), b[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)], T.uint8(8))

    @T.prim_func(private=True, s_tir=True)
    def quantize(gv: T.Buffer((T.int64(1), T.int64(2), T.int64(4), T.int64(4)), "float32"), number_0: T.Buffer((), "float32"), quantized: T.Buffer((T.int64(1), T.int64(2), T.int64(4), T.int64(4)), "uint8")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(4)):
            with T.sblock("quantized"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(gv[v_i0, v_i1, v_i2, v_i3], number_0[()])
                T.writes(quantized[v_i0, v_i1, v_i2, v_i3])
                quantized[v_i0, v_i1, v_i2, v_i3] = T.Cast("uint8", T.max(T.min(T.round(gv[v_i0, v_i1, v_i2, v_i3] / T.float32(0.5)) + number_0[()], T.float32(255.0)), T.float32(0.0)))

    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), dtype="uint8")) -> R.Tuple(R.Tensor((1, 2, 6, 6), dtype="uint8"), R.Tensor((1, 2, 6, 6), dtype="uint8")):
        cls = Module
        gv = R.call_tir(cls.dequantize, (x, R.const(3, "int32"), R.const(0.25, "float32")), out_ty=R.Tensor((1, 2, 4, 4), dtype="float32"))
        a = R.call_tir(cls.quantize, (gv, R.const(4.0, "float32")), out_ty=R.Tensor((1, 2, 4, 4), dtype="uint8"))
        gv1 = R.call_tir(cls.dequantize, (a, R.const(7, "int32"), R.const(0.75, "float32")), out_ty=R.Tensor((1, 2, 4, 4), dtype="float32"))
        b = R.call_tir(cls.quantize, (gv1, R.const(9.0, "float32")), out_ty=R.Tensor((1, 2, 4, 4), dtype="uint8"))
        c = R.call_tir(cls.pad, (b,), out_ty=R.Tensor((1, 2, 6, 6), dtype="uint8"))
        d = R.call_tir(cls.pad1, (b,), out_ty=R.Tensor((1, 2, 6, 6), dtype="uint8"))
        return (c, d)
