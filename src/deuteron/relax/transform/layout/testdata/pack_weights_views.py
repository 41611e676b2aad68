# run: FoldConstant,PackWeights,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3 -mattr=+avxvnni
# Where fours of bytes lie beside each other, nothing is moved, whatever the number of rows. Where they are other bytes
# than those multiplied, lie apart or are left over they are packed.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "uint8"), i: R.Tensor((2, 8), "int8"), y: R.Tensor((1, 4, 4, 8), "uint8"), z: R.Tensor((1, 8, 4, 4), "uint8"), u: R.Tensor((2, 6), "uint8")):
        with R.dataflow():
            w = R.full(R.shape([8, 8]), R.const(-3, "int32"), dtype="int32")
            k = R.full(R.shape([8, 8, 1, 1]), R.const(-1, "int32"), dtype="int32")
            a = R.matmul(R.astype(x, dtype="int32"), w)
            b = R.matmul(R.astype(i, dtype="int32"), w)
            c = R.nn.conv2d(R.subtract(R.astype(y, dtype="int32"), R.const(4, "int32")), k, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
            d = R.nn.conv2d(R.astype(z, dtype="int32"), k)
            e = R.matmul(R.astype(u, dtype="int32"), R.full(R.shape([6, 8]), R.const(-3, "int32"), dtype="int32"))
            gv = (a, b, c, d, e)
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
    def main(x: R.Tensor((n, 8), dtype="uint8"), i: R.Tensor((2, 8), dtype="int8"), y: R.Tensor((1, 4, 4, 8), dtype="uint8"), z: R.Tensor((1, 8, 4, 4), dtype="uint8"), u: R.Tensor((2, 6), dtype="uint8")) -> R.Tuple(R.Tensor((n, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((1, 6, 6, 8), dtype="int32"), R.Tensor((1, 8, 4, 4), dtype="int32"), R.Tensor((2, 8), dtype="int32")):
        with R.dataflow():
            lv: R.Tensor((n, 2), dtype="int32") = R.memory.view(x, R.shape([n, 2]), R.dtype("int32"), R.tuple())
            a: R.Tensor((n, 8), dtype="int32") = R.nn.dense_pack(lv, metadata["ir.GenericConst"][0], columns=8, packing="u8i8x4", out_dtype="int32")
            lv1: R.Tensor((2, 2), dtype="int32") = R.pack_u8x4(i, axis=-1)
            lv2: R.Tensor((2, 8), dtype="int32") = R.nn.dense_pack(lv1, metadata["ir.GenericConst"][0], columns=8, packing="u8i8x4", out_dtype="int32")
            b: R.Tensor((2, 8), dtype="int32") = R.subtract(lv2, metadata["ir.GenericConst"][1])
            lv3: R.Tensor((1, 6, 6, 8), dtype="uint8") = R.nn.pad(y, pad_width=[0, 0, 1, 1, 1, 1, 0, 0], pad_value=4.0, pad_mode="constant")
            lv4: R.Tensor((1, 6, 6, 2), dtype="int32") = R.memory.view(lv3, R.shape([1, 6, 6, 2]), R.dtype("int32"), R.tuple())
            lv5: R.Tensor((1, 6, 6, 8), dtype="int32") = R.nn.conv_pack(lv4, metadata["ir.GenericConst"][2], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC", out_dtype="int32", channels=8, packing="u8i8x4")
            c: R.Tensor((1, 6, 6, 8), dtype="int32") = R.subtract(lv5, metadata["ir.GenericConst"][3])
            lv6: R.Tensor((1, 2, 4, 4), dtype="int32") = R.pack_u8x4(z, axis=1)
            d: R.Tensor((1, 8, 4, 4), dtype="int32") = R.nn.conv_pack(lv6, metadata["ir.GenericConst"][4], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="u8i8x4")
            lv7: R.Tensor((2, 2), dtype="int32") = R.pack_u8x4(u, axis=-1)
            e: R.Tensor((2, 8), dtype="int32") = R.nn.dense_pack(lv7, metadata["ir.GenericConst"][5], columns=8, packing="u8i8x4", out_dtype="int32")
            gv: R.Tuple(R.Tensor((n, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((1, 6, 6, 8), dtype="int32"), R.Tensor((1, 8, 4, 4), dtype="int32"), R.Tensor((2, 8), dtype="int32")) = a, b, c, d, e
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [1, 2, 8], "data": "/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/Q=="},
    {"dtype": "int32", "shape": [8], "data": "APT//wD0//8A9P//APT//wD0//8A9P//APT//wD0//8="},
    {"dtype": "int32", "shape": [1, 1, 2, 8], "data": "/////////////////////////////////////////////////////////////////////////////////////w=="},
    {"dtype": "int32", "shape": [8], "data": "4P///+D////g////4P///+D////g////4P///+D///8="},
    {"dtype": "int32", "shape": [2, 1, 1, 8], "data": "/////////////////////////////////////////////////////////////////////////////////////w=="},
    {"dtype": "int32", "shape": [1, 2, 8], "data": "/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/QAA/f0AAP39AAD9/QAA/f0AAP39AAD9/QAA/f0AAA=="},
]}
