# run: FoldConstant,PackWeights,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3 -mattr=+avxvnni
# Bytes meet in fours, and what the zero point makes of the sums is subtracted: a constant, or a product with a zero point
# of the run. int8 is 128 more than it was. An image is enlarged by zero points; where these are not constant, as where
# weights do not fit int8, pairs of int16 are left.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "uint8"), z: R.Tensor((), "uint8"), y: R.Tensor((1, 3, 4, 4), "int8"), u: R.Tensor((1, 3, 4, 4), "uint8")):
        with R.dataflow():
            w = R.astype(x, dtype="int32")
            v = R.astype(z, dtype="int32")
            a = R.matmul(w, R.full(R.shape([3, 8]), R.const(-3, "int32"), dtype="int32"))
            x1 = R.subtract(w, v)
            b = R.nn.dense(x1, R.full(R.shape([8, 3]), R.const(5, "int32"), dtype="int32"))
            c = R.nn.dense(x1, R.full(R.shape([8, 3]), R.const(200, "int32"), dtype="int32"))
            t = R.astype(y, dtype="int32")
            s = R.subtract(t, R.const(4, "int32"))
            d = R.nn.conv2d(s, R.full(R.shape([8, 3, 1, 1]), R.const(-1, "int32"), dtype="int32"), padding=[1, 0, 1, 2])
            t1 = R.astype(u, dtype="int32")
            s1 = R.subtract(t1, v)
            e = R.nn.conv2d(s1, R.full(R.shape([8, 3, 1, 1]), R.const(-1, "int32"), dtype="int32"), padding=[1, 1, 1, 1])
            f = R.nn.conv2d(s1, R.full(R.shape([8, 3, 1, 1]), R.const(-1, "int32"), dtype="int32"))
            g = R.nn.conv2d(t1, R.full(R.shape([8, 3, 1, 1]), R.const(-1, "int32"), dtype="int32"), padding=[1, 1, 1, 1])
            gv = (a, b, c, d, e, f, g)
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
    def main(x: R.Tensor((2, 3), dtype="uint8"), z: R.Tensor((), dtype="uint8"), y: R.Tensor((1, 3, 4, 4), dtype="int8"), u: R.Tensor((1, 3, 4, 4), dtype="uint8")) -> R.Tuple(R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((1, 8, 6, 6), dtype="int32"), R.Tensor((1, 8, 6, 6), dtype="int32"), R.Tensor((1, 8, 4, 4), dtype="int32"), R.Tensor((1, 8, 6, 6), dtype="int32")):
        with R.dataflow():
            lv: R.Tensor((2, 1), dtype="int32") = R.pack_u8x4(x, axis=-1)
            a: R.Tensor((2, 8), dtype="int32") = R.nn.dense_pack(lv, metadata["ir.GenericConst"][0], columns=8, packing="u8i8x4", out_dtype="int32")
            lv1: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv2: R.Tensor((8,), dtype="int32") = R.multiply(metadata["ir.GenericConst"][1], lv1)
            lv3: R.Tensor((2, 8), dtype="int32") = R.nn.dense_pack(lv, metadata["ir.GenericConst"][2], columns=8, packing="u8i8x4", out_dtype="int32")
            b: R.Tensor((2, 8), dtype="int32") = R.subtract(lv3, lv2)
            lv4: R.Tensor((2, 2), dtype="int32") = R.pack_i16x2(x, z, axis=-1)
            c: R.Tensor((2, 8), dtype="int32") = R.nn.dense_pack(lv4, metadata["ir.GenericConst"][3], columns=8, packing="i16x2", out_dtype="int32")
            lv5: R.Tensor((1, 3, 6, 6), dtype="int8") = R.nn.pad(y, pad_width=[0, 0, 0, 0, 1, 1, 0, 2], pad_value=4.0, pad_mode="constant")
            lv6: R.Tensor((1, 1, 6, 6), dtype="int32") = R.pack_u8x4(lv5, axis=1)
            lv7: R.Tensor((1, 8, 6, 6), dtype="int32") = R.nn.conv_pack(lv6, metadata["ir.GenericConst"][4], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="u8i8x4")
            d: R.Tensor((1, 8, 6, 6), dtype="int32") = R.subtract(lv7, metadata["ir.GenericConst"][5])
            lv8: R.Tensor((1, 3, 6, 6), dtype="uint8") = R.nn.pad(u, pad_width=[0, 0, 0, 0, 1, 1, 1, 1], pad_value=0.0, pad_mode="constant")
            lv9: R.Tensor((1, 3, 6, 6), dtype="uint8") = R.where(metadata["ir.GenericConst"][6], lv8, z)
            lv10: R.Tensor((1, 1, 6, 6), dtype="int32") = R.pack_u8x4(lv9, axis=1)
            lv11: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv12: R.Tensor((8, 1, 1), dtype="int32") = R.multiply(metadata["ir.GenericConst"][7], lv11)
            lv13: R.Tensor((1, 8, 6, 6), dtype="int32") = R.nn.conv_pack(lv10, metadata["ir.GenericConst"][8], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="u8i8x4")
            e: R.Tensor((1, 8, 6, 6), dtype="int32") = R.subtract(lv13, lv12)
            lv14: R.Tensor((1, 1, 4, 4), dtype="int32") = R.pack_u8x4(u, axis=1)
            lv15: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv16: R.Tensor((8, 1, 1), dtype="int32") = R.multiply(metadata["ir.GenericConst"][9], lv15)
            lv17: R.Tensor((1, 8, 4, 4), dtype="int32") = R.nn.conv_pack(lv14, metadata["ir.GenericConst"][10], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="u8i8x4")
            f: R.Tensor((1, 8, 4, 4), dtype="int32") = R.subtract(lv17, lv16)
            g: R.Tensor((1, 8, 6, 6), dtype="int32") = R.nn.conv_pack(lv14, metadata["ir.GenericConst"][11], strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="u8i8x4")
            gv: R.Tuple(R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((1, 8, 6, 6), dtype="int32"), R.Tensor((1, 8, 6, 6), dtype="int32"), R.Tensor((1, 8, 4, 4), dtype="int32"), R.Tensor((1, 8, 6, 6), dtype="int32")) = a, b, c, d, e, f, g
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [1, 1, 8], "data": "/f39AP39/QD9/f0A/f39AP39/QD9/f0A/f39AP39/QA="},
    {"dtype": "int32", "shape": [8], "data": "DwAAAA8AAAAPAAAADwAAAA8AAAAPAAAADwAAAA8AAAA="},
    {"dtype": "int32", "shape": [1, 1, 8], "data": "BQUFAAUFBQAFBQUABQUFAAUFBQAFBQUABQUFAAUFBQA="},
    {"dtype": "int32", "shape": [1, 2, 8], "data": "yADIAMgAyADIAMgAyADIAMgAyADIAMgAyADIAMgAyADIAAAAyAAAAMgAAADIAAAAyAAAAMgAAADIAAAAyAAAAA=="},
    {"dtype": "int32", "shape": [1, 1, 1, 8], "data": "////AP///wD///8A////AP///wD///8A////AP///wA="},
    {"dtype": "int32", "shape": [8, 1, 1], "data": "dP7//3T+//90/v//dP7//3T+//90/v//dP7//3T+//8="},
    {"dtype": "bool", "shape": [1, 1, 6, 6], "data": "AAAAAAAAAAEBAQEAAAEBAQEAAAEBAQEAAAEBAQEAAAAAAAAA"},
    {"dtype": "int32", "shape": [8, 1, 1], "data": "/f////3////9/////f////3////9/////f////3///8="},
    {"dtype": "int32", "shape": [1, 1, 1, 8], "data": "////AP///wD///8A////AP///wD///8A////AP///wA="},
    {"dtype": "int32", "shape": [8, 1, 1], "data": "/f////3////9/////f////3////9/////f////3///8="},
    {"dtype": "int32", "shape": [1, 1, 1, 8], "data": "////AP///wD///8A////AP///wD///8A////AP///wA="},
    {"dtype": "int32", "shape": [1, 1, 1, 8], "data": "////AP///wD///8A////AP///wD///8A////AP///wA="},
]}
