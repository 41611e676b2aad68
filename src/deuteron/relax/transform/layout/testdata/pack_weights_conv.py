# run: FoldConstant,PackWeights
# target: llvm -mcpu=x86-64-v3
# Kernels of one, two and three spatial axes; channels that would be padded by much stay together, groups of channels first are left alone.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 5), "float32"), y: R.Tensor((1, 2, 5, 5), "float32"), z: R.Tensor((1, 2, 3, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv1d(x, R.ones((16, 2, 3), "float32"))
            b = R.nn.conv2d(y, R.ones((31, 2, 1, 1), "float32"), strides=[2, 2])
            c = R.nn.conv2d(y, R.ones((12, 2, 1, 1), "float32"))
            d = R.nn.conv3d(z, R.ones((8, 2, 1, 1, 2), "float32"))
            e = R.nn.conv2d(y, R.ones((16, 1, 1, 1), "float32"), groups=2)
            gv = (a, b, c, d, e)
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
    def main(x: R.Tensor((1, 2, 5), dtype="float32"), y: R.Tensor((1, 2, 5, 5), dtype="float32"), z: R.Tensor((1, 2, 3, 3, 3), dtype="float32")) -> R.Tuple(R.Tensor((1, 16, 3), dtype="float32"), R.Tensor((1, 31, 3, 3), dtype="float32"), R.Tensor((1, 12, 5, 5), dtype="float32"), R.Tensor((1, 8, 3, 3, 2), dtype="float32"), R.Tensor((1, 16, 5, 5), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 16, 3), dtype="float32") = R.nn.conv_pack(x, metadata["ir.GenericConst"][0], strides=[1], padding=[0, 0], dilation=[1], groups=1, data_layout="NCW", kernel_layout="IWO", out_layout="NCW", out_dtype=None, channels=16, packing="")
            b: R.Tensor((1, 31, 3, 3), dtype="float32") = R.nn.conv_pack(y, metadata["ir.GenericConst"][1], strides=[2, 2], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW16o", out_layout="NCHW", out_dtype=None, channels=31, packing="")
            c: R.Tensor((1, 12, 5, 5), dtype="float32") = R.nn.conv_pack(y, metadata["ir.GenericConst"][2], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype=None, channels=12, packing="")
            d: R.Tensor((1, 8, 3, 3, 2), dtype="float32") = R.nn.conv_pack(z, metadata["ir.GenericConst"][3], strides=[1, 1, 1], padding=[0, 0, 0, 0, 0, 0], dilation=[1, 1, 1], groups=1, data_layout="NCDHW", kernel_layout="IDHWO", out_layout="NCDHW", out_dtype=None, channels=8, packing="")
            e: R.Tensor((1, 16, 5, 5), dtype="float32") = R.nn.conv2d(y, metadata["ir.GenericConst"][4], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            gv: R.Tuple(R.Tensor((1, 16, 3), dtype="float32"), R.Tensor((1, 31, 3, 3), dtype="float32"), R.Tensor((1, 12, 5, 5), dtype="float32"), R.Tensor((1, 8, 3, 3, 2), dtype="float32"), R.Tensor((1, 16, 5, 5), dtype="float32")) = a, b, c, d, e
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 3, 16], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
    {"dtype": "float32", "shape": [2, 2, 1, 1, 16], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAAAAAACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AAAAAA=="},
    {"dtype": "float32", "shape": [2, 1, 1, 12], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
    {"dtype": "float32", "shape": [2, 1, 1, 2, 8], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8="},
    {"dtype": "float32", "shape": [16, 1, 1, 1], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPw=="},
]}
