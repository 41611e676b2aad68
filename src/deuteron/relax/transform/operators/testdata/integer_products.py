# run: IntegerProducts,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3
# Scales along the output channels of weights are those of the result. Integers of groups are floats, bytes as they are
# where their zero point is 0. Scales along another axis and scales that the run tells stay as they are.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), "uint8"), y: R.Tensor((2, 2), "int8"), s: R.Tensor((), "float32")):
        with R.dataflow():
            a = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            v = R.dequantize(R.const([[[[1]], [[-2]]], [[[3]], [[4]]]], "int8"), R.const([0.25, 2], "float32"), R.const([0, 1], "int8"), axis=0, out_dtype="float32")
            c = R.nn.conv2d(a, v)
            g = R.dequantize(R.const([[[[1]]], [[[-2]]]], "int8"), R.const(0.25, "float32"), R.const(0, "int8"), axis=0, out_dtype="float32")
            d = R.nn.conv2d(a, g, groups=2)
            a0 = R.dequantize(x, R.const(0.5, "float32"), R.const(0, "uint8"), axis=0, out_dtype="float32")
            d0 = R.nn.conv2d(a0, g, groups=2)
            b = R.dequantize(y, R.const(0.5, "float32"), R.const(0, "int8"), axis=0, out_dtype="float32")
            w = R.dequantize(R.const([[1, -2], [3, 4]], "int8"), R.const(0.25, "float32"), R.const(0, "int8"), axis=0, out_dtype="float32")
            e = R.matmul(b, w)
            u = R.dequantize(R.const([[1, -2], [3, 4]], "int8"), R.const([0.25, 2], "float32"), R.const([0, 1], "int8"), axis=0, out_dtype="float32")
            f = R.matmul(b, u)
            h = R.dequantize(y, s, R.const(0, "int8"), axis=0, out_dtype="float32")
            k = R.matmul(h, w)
            gv = (c, d, d0, e, f, k)
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
    def main(x: R.Tensor((1, 2, 4, 4), dtype="uint8"), y: R.Tensor((2, 2), dtype="int8"), s: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((1, 2, 4, 4), dtype="int32") = R.astype(x, dtype="int32")
            lv1: R.Tensor((1, 2, 4, 4), dtype="int32") = R.subtract(lv, R.const(3, "int32"))
            lv2: R.Tensor((1, 2, 4, 4), dtype="int32") = R.nn.conv2d(lv1, metadata["ir.GenericConst"][0], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="int32")
            lv3: R.Tensor((1, 2, 4, 4), dtype="float32") = R.astype(lv2, dtype="float32")
            c: R.Tensor((1, 2, 4, 4), dtype="float32") = R.multiply(lv3, metadata["ir.GenericConst"][1])
            lv4: R.Tensor((1, 2, 4, 4), dtype="float32") = R.astype(x, dtype="float32")
            lv5: R.Tensor((1, 2, 4, 4), dtype="float32") = R.subtract(lv4, R.const(3.0, "float32"))
            lv6: R.Tensor((1, 2, 4, 4), dtype="float32") = R.nn.conv2d(lv5, metadata["ir.GenericConst"][2], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            d: R.Tensor((1, 2, 4, 4), dtype="float32") = R.multiply(lv6, R.const(0.125, "float32"))
            lv7: R.Tensor((1, 2, 4, 4), dtype="float32") = R.nn.conv2d(x, metadata["ir.GenericConst"][3], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="float32")
            d0: R.Tensor((1, 2, 4, 4), dtype="float32") = R.multiply(lv7, R.const(0.125, "float32"))
            b: R.Tensor((2, 2), dtype="float32") = R.dequantize(y, R.const(0.5, "float32"), R.const(0, "int8"), out_dtype="float32", axis=0)
            w: R.Tensor((2, 2), dtype="float32") = R.dequantize(metadata["ir.GenericConst"][4], R.const(0.25, "float32"), R.const(0, "int8"), out_dtype="float32", axis=0)
            lv8: R.Tensor((2, 2), dtype="int32") = R.astype(y, dtype="int32")
            lv9: R.Tensor((2, 2), dtype="int32") = R.subtract(lv8, R.const(0, "int32"))
            lv10: R.Tensor((2, 2), dtype="int32") = R.matmul(lv9, metadata["ir.GenericConst"][4], out_dtype="int32")
            lv11: R.Tensor((2, 2), dtype="float32") = R.astype(lv10, dtype="float32")
            e: R.Tensor((2, 2), dtype="float32") = R.multiply(lv11, R.const(0.125, "float32"))
            u: R.Tensor((2, 2), dtype="float32") = R.dequantize(metadata["ir.GenericConst"][5], metadata["ir.GenericConst"][6], metadata["ir.GenericConst"][7], out_dtype="float32", axis=0)
            f: R.Tensor((2, 2), dtype="float32") = R.matmul(b, u, out_dtype=None)
            h: R.Tensor((2, 2), dtype="float32") = R.dequantize(y, s, R.const(0, "int8"), out_dtype="float32", axis=0)
            k: R.Tensor((2, 2), dtype="float32") = R.matmul(h, w, out_dtype=None)
            gv: R.Tuple(R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32")) = c, d, d0, e, f, k
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int8", "shape": [2, 2, 1, 1], "data": "Af4CAw=="},
    {"dtype": "float32", "shape": [2, 1, 1], "data": "AAAAPgAAgD8="},
    {"dtype": "float32", "shape": [2, 1, 1, 1], "data": "AACAPwAAAMA="},
    {"dtype": "float32", "shape": [2, 1, 1, 1], "data": "AACAPwAAAMA="},
    {"dtype": "int8", "shape": [2, 2], "data": "Af4DBA=="},
    {"dtype": "int8", "shape": [2, 2], "data": "Af4DBA=="},
    {"dtype": "float32", "shape": [2], "data": "AACAPgAAAEA="},
    {"dtype": "int8", "shape": [2], "data": "AAE="},
]}
