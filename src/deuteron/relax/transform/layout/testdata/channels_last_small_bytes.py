# run: FoldConstant,ChannelsLast,PackWeights,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3
# Vectors, too, multiply integers with their channels last: fours of bytes lie beside each other there.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 14, 14), "uint8")):
        with R.dataflow():
            a = R.subtract(R.astype(x, "int32"), R.const(3, "int32"))
            b = R.nn.conv2d(a, R.ones((64, 4, 1, 1), "int32"))
            c = R.quantize(R.astype(b, "float32"), R.const(0.5, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=1)
            d = R.subtract(R.astype(c, "int32"), R.const(7, "int32"))
            e = R.nn.conv2d(d, R.ones((16, 64, 1, 1), "int32"))
            f = R.quantize(R.astype(e, "float32"), R.const(0.5, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=1)
            g = R.subtract(R.astype(f, "int32"), R.const(7, "int32"))
            gv = R.nn.conv2d(g, R.ones((8, 16, 1, 1), "int32"))
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
    def main(x: R.Tensor((1, 4, 14, 14), dtype="uint8")) -> R.Tensor((1, 8, 14, 14), dtype="int32"):
        with R.dataflow():
            lv: R.Tensor((1, 1, 14, 14), dtype="int32") = R.pack_u8x4(x, axis=1)
            lv1: R.Tensor((1, 14, 14, 64), dtype="int32") = R.nn.conv_pack(lv, metadata["ir.GenericConst"][0], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW16o", out_layout="NHWC", out_dtype="int32", channels=64, packing="u8i7x4")
            b: R.Tensor((1, 14, 14, 64), dtype="int32") = R.subtract(lv1, metadata["ir.GenericConst"][1])
            lv2: R.Tensor((1, 14, 14, 64), dtype="float32") = R.astype(b, dtype="float32")
            c: R.Tensor((1, 14, 14, 64), dtype="uint8") = R.quantize(lv2, R.const(0.5, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=3)
            lv2_1: R.Tensor((1, 14, 14, 16), dtype="int32") = R.memory.view(c, R.shape([1, 14, 14, 16]), R.dtype("int32"), R.tuple())
            lv3: R.Tensor((1, 14, 14, 16), dtype="int32") = R.nn.conv_pack(lv2_1, metadata["ir.GenericConst"][2], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC", out_dtype="int32", channels=16, packing="u8i7x4")
            e: R.Tensor((1, 14, 14, 16), dtype="int32") = R.subtract(lv3, metadata["ir.GenericConst"][3])
            lv5: R.Tensor((1, 14, 14, 16), dtype="float32") = R.astype(e, dtype="float32")
            f: R.Tensor((1, 14, 14, 16), dtype="uint8") = R.quantize(lv5, R.const(0.5, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=3)
            lv4: R.Tensor((1, 14, 14, 4), dtype="int32") = R.memory.view(f, R.shape([1, 14, 14, 4]), R.dtype("int32"), R.tuple())
            lv5_1: R.Tensor((1, 14, 14, 8), dtype="int32") = R.nn.conv_pack(lv4, metadata["ir.GenericConst"][4], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC", out_dtype="int32", channels=8, packing="u8i7x4")
            lv1_1: R.Tensor((1, 14, 14, 8), dtype="int32") = R.subtract(lv5_1, metadata["ir.GenericConst"][5])
            gv: R.Tensor((1, 8, 14, 14), dtype="int32") = R.permute_dims(lv1_1, axes=[0, 3, 1, 2])
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [4, 1, 1, 1, 16], "data": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ=="},
    {"dtype": "int32", "shape": [64], "data": "DAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAAwAAAAMAAAADAAAAA=="},
    {"dtype": "int32", "shape": [1, 1, 16, 16], "data": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ=="},
    {"dtype": "int32", "shape": [16], "data": "wAEAAMABAADAAQAAwAEAAMABAADAAQAAwAEAAMABAADAAQAAwAEAAMABAADAAQAAwAEAAMABAADAAQAAwAEAAA=="},
    {"dtype": "int32", "shape": [1, 1, 4, 8], "data": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="},
    {"dtype": "int32", "shape": [8], "data": "cAAAAHAAAABwAAAAcAAAAHAAAABwAAAAcAAAAHAAAAA="},
]}
