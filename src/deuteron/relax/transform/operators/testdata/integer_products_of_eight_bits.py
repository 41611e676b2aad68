# run: IntegerProducts,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3
# Where bytes are multiplied by seven bits at most, a convolution by more stays one of floats: not a product, nor one
# whose neighbours have no more together.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), "uint8"), y: R.Tensor((2, 2), "uint8")):
        with R.dataflow():
            a = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            v = R.dequantize(R.const([[[[65]], [[65]]], [[[3]], [[4]]]], "int8"), R.const(0.25, "float32"), R.const(0, "int8"), axis=0, out_dtype="float32")
            w = R.dequantize(R.const([[[[100]], [[28]]], [[[-100]], [[127]]]], "int8"), R.const(0.25, "float32"), R.const(0, "int8"), axis=0, out_dtype="float32")
            b = R.dequantize(y, R.const(0.5, "float32"), R.const(0, "uint8"), axis=0, out_dtype="float32")
            u = R.dequantize(R.const([[127, -128], [127, 127]], "int8"), R.const(0.25, "float32"), R.const(0, "int8"), axis=0, out_dtype="float32")
            gv = (R.nn.conv2d(a, v), R.nn.conv2d(a, w), R.matmul(b, u))
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
    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), dtype="uint8"), y: R.Tensor((2, 2), dtype="uint8")) -> R.Tuple(R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((2, 2), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 2, 4, 4), dtype="float32") = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), out_dtype="float32", axis=0)
            v: R.Tensor((2, 2, 1, 1), dtype="float32") = R.dequantize(metadata["ir.GenericConst"][0], R.const(0.25, "float32"), R.const(0, "int8"), out_dtype="float32", axis=0)
            lv: R.Tensor((1, 2, 4, 4), dtype="float32") = R.nn.conv2d(a, v, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv_1: R.Tensor((1, 2, 4, 4), dtype="int32") = R.astype(x, dtype="int32")
            lv1: R.Tensor((1, 2, 4, 4), dtype="int32") = R.subtract(lv_1, R.const(3, "int32"))
            lv2: R.Tensor((1, 2, 4, 4), dtype="int32") = R.nn.conv2d(lv1, metadata["ir.GenericConst"][1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="int32")
            lv3: R.Tensor((1, 2, 4, 4), dtype="float32") = R.astype(lv2, dtype="float32")
            lv1_1: R.Tensor((1, 2, 4, 4), dtype="float32") = R.multiply(lv3, R.const(0.125, "float32"))
            lv4: R.Tensor((2, 2), dtype="int32") = R.astype(y, dtype="int32")
            lv5: R.Tensor((2, 2), dtype="int32") = R.subtract(lv4, R.const(0, "int32"))
            lv6: R.Tensor((2, 2), dtype="int32") = R.matmul(lv5, metadata["ir.GenericConst"][2], out_dtype="int32")
            lv7: R.Tensor((2, 2), dtype="float32") = R.astype(lv6, dtype="float32")
            lv2_1: R.Tensor((2, 2), dtype="float32") = R.multiply(lv7, R.const(0.125, "float32"))
            gv: R.Tuple(R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((2, 2), dtype="float32")) = lv, lv1_1, lv2_1
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int8", "shape": [2, 2, 1, 1], "data": "QUEDBA=="},
    {"dtype": "int8", "shape": [2, 2, 1, 1], "data": "ZBycfw=="},
    {"dtype": "int8", "shape": [2, 2], "data": "f4B/fw=="},
]}
