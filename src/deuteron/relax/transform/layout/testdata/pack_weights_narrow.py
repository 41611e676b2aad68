# run: FoldConstant,PackWeights
# target: llvm -mcpu=x86-64-v3
# With channels last, channels that make no whole vectors are padded where shorter vectors would reach less of the peak.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 5, 5, 2), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, R.ones((11, 2, 1, 1), "float32"), data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
            b = R.nn.conv2d(x, R.ones((12, 2, 1, 1), "float32"), data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
            c = R.nn.conv2d(x, R.ones((4, 2, 1, 1), "float32"), data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
            gv = (a, b, c)
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
    def main(x: R.Tensor((1, 5, 5, 2), dtype="float32")) -> R.Tuple(R.Tensor((1, 5, 5, 11), dtype="float32"), R.Tensor((1, 5, 5, 12), dtype="float32"), R.Tensor((1, 5, 5, 4), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 5, 5, 11), dtype="float32") = R.nn.conv_pack(x, metadata["ir.GenericConst"][0], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC", out_dtype=None, channels=11, packing="")
            b: R.Tensor((1, 5, 5, 12), dtype="float32") = R.nn.conv_pack(x, metadata["ir.GenericConst"][1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC", out_dtype=None, channels=12, packing="")
            c: R.Tensor((1, 5, 5, 4), dtype="float32") = R.nn.conv_pack(x, metadata["ir.GenericConst"][2], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC", out_dtype=None, channels=4, packing="")
            gv: R.Tuple(R.Tensor((1, 5, 5, 11), dtype="float32"), R.Tensor((1, 5, 5, 12), dtype="float32"), R.Tensor((1, 5, 5, 4), dtype="float32")) = a, b, c
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [1, 1, 2, 16], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AAAAAAAAAAAAAAAAAAAAAAAAAAA="},
    {"dtype": "float32", "shape": [1, 1, 2, 16], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AAAAAAAAAAAAAAAAAAAAAAAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAAAAAAAAAAAAAAAAAAAA="},
    {"dtype": "float32", "shape": [1, 1, 2, 4], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8="},
]}
