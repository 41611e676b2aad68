# run: FoldConstant,PackWeights,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3
# Weights of seven bits meet bytes in fours, and the zero point is subtracted from the sums. Where windows reach beyond
# the image, it is enlarged by what stands for zero, which the run may give: by as much as each of two windows wants.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 5), "uint8"), z: R.Tensor((), "uint8"), y: R.Tensor((1, 3, 4, 4), "uint8"), v: R.Tensor((1, 3, "n", "n"), "uint8")):
        with R.dataflow():
            x1 = R.subtract(R.astype(x, dtype="int32"), R.astype(z, dtype="int32"))
            a = R.matmul(x1, R.full(R.shape([5, 8]), R.const(64, "int32"), dtype="int32"))
            y1 = R.subtract(R.astype(y, dtype="int32"), R.astype(z, dtype="int32"))
            b = R.nn.conv2d(y1, R.full(R.shape([8, 3, 3, 3]), R.const(-64, "int32"), dtype="int32"), padding=[1, 1, 1, 1])
            c = R.nn.conv2d(y1, R.full(R.shape([8, 3, 1, 1]), R.const(7, "int32"), dtype="int32"), padding=[0, 2, 0, 0])
            v1 = R.subtract(R.astype(v, dtype="int32"), R.astype(z, dtype="int32"))
            d = R.nn.conv2d(v1, R.full(R.shape([8, 3, 1, 1]), R.const(7, "int32"), dtype="int32"), padding=[1, 1, 1, 1])
            gv = (a, b, c, d)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 5), dtype="uint8"), z: R.Tensor((), dtype="uint8"), y: R.Tensor((1, 3, 4, 4), dtype="uint8"), v: R.Tensor((1, 3, n, n), dtype="uint8")) -> R.Tuple(R.Tensor((2, 8), dtype="int32"), R.Tensor((1, 8, 4, 4), dtype="int32"), R.Tensor((1, 8, 4, 6), dtype="int32"), R.Tensor((1, 8, "n + 2", "n + 2"), dtype="int32")):
        with R.dataflow():
            lv: R.Tensor((2, 2), dtype="int32") = R.pack_u8x4(x, axis=-1)
            lv1: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv2: R.Tensor((8,), dtype="int32") = R.multiply(metadata["ir.GenericConst"][0], lv1)
            lv3: R.Tensor((2, 8), dtype="int32") = R.nn.dense_pack(lv, metadata["ir.GenericConst"][1], columns=8, packing="u8i7x4", out_dtype="int32")
            a: R.Tensor((2, 8), dtype="int32") = R.subtract(lv3, lv2)
            lv4: R.Tensor((1, 3, 6, 6), dtype="uint8") = R.nn.pad(y, pad_width=[0, 0, 0, 0, 1, 1, 1, 1], pad_value=0.0, pad_mode="constant")
            lv5: R.Tensor((1, 3, 6, 6), dtype="uint8") = R.where(metadata["ir.GenericConst"][2], lv4, z)
            lv6: R.Tensor((1, 1, 6, 6), dtype="int32") = R.pack_u8x4(lv5, axis=1)
            lv7: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv8: R.Tensor((8, 1, 1), dtype="int32") = R.multiply(metadata["ir.GenericConst"][3], lv7)
            lv9: R.Tensor((1, 8, 4, 4), dtype="int32") = R.nn.conv_pack(lv6, metadata["ir.GenericConst"][4], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="u8i7x4")
            b: R.Tensor((1, 8, 4, 4), dtype="int32") = R.subtract(lv9, lv8)
            lv10: R.Tensor((1, 3, 4, 6), dtype="uint8") = R.nn.pad(y, pad_width=[0, 0, 0, 0, 0, 0, 2, 0], pad_value=0.0, pad_mode="constant")
            lv11: R.Tensor((1, 3, 4, 6), dtype="uint8") = R.where(metadata["ir.GenericConst"][5], lv10, z)
            lv12: R.Tensor((1, 1, 4, 6), dtype="int32") = R.pack_u8x4(lv11, axis=1)
            lv13: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv14: R.Tensor((8, 1, 1), dtype="int32") = R.multiply(metadata["ir.GenericConst"][6], lv13)
            lv15: R.Tensor((1, 8, 4, 6), dtype="int32") = R.nn.conv_pack(lv12, metadata["ir.GenericConst"][7], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="u8i7x4")
            c: R.Tensor((1, 8, 4, 6), dtype="int32") = R.subtract(lv15, lv14)
            lv16: R.Tensor((1, 2, n, n), dtype="int32") = R.pack_i16x2(v, z, axis=1)
            d: R.Tensor((1, 8, n + 2, n + 2), dtype="int32") = R.nn.conv_pack(lv16, metadata["ir.GenericConst"][8], strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="i16x2")
            gv: R.Tuple(R.Tensor((2, 8), dtype="int32"), R.Tensor((1, 8, 4, 4), dtype="int32"), R.Tensor((1, 8, 4, 6), dtype="int32"), R.Tensor((1, 8, n + 2, n + 2), dtype="int32")) = a, b, c, d
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [8], "data": "QAEAAEABAABAAQAAQAEAAEABAABAAQAAQAEAAEABAAA="},
    {"dtype": "int32", "shape": [1, 2, 8], "data": "QEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAQAAAAA=="},
    {"dtype": "bool", "shape": [1, 1, 6, 6], "data": "AAAAAAAAAAEBAQEAAAEBAQEAAAEBAQEAAAEBAQEAAAAAAAAA"},
    {"dtype": "int32", "shape": [8, 1, 1], "data": "QPn//0D5//9A+f//QPn//0D5//9A+f//QPn//0D5//8="},
    {"dtype": "int32", "shape": [1, 3, 3, 8], "data": "wMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAAwMDAAMDAwADAwMAA"},
    {"dtype": "bool", "shape": [1, 1, 1, 6], "data": "AAABAQEB"},
    {"dtype": "int32", "shape": [8, 1, 1], "data": "FQAAABUAAAAVAAAAFQAAABUAAAAVAAAAFQAAABUAAAA="},
    {"dtype": "int32", "shape": [1, 1, 1, 8], "data": "BwcHAAcHBwAHBwcABwcHAAcHBwAHBwcABwcHAAcHBwA="},
    {"dtype": "int32", "shape": [2, 1, 1, 8], "data": "BwAHAAcABwAHAAcABwAHAAcABwAHAAcABwAHAAcABwAHAAAABwAAAAcAAAAHAAAABwAAAAcAAAAHAAAABwAAAA=="},
]}
