# run: FoldConstant,PackWeights
# target: llvm -mcpu=x86-64-v3
# With channels last a block has channels of one group; groups that are no whole vectors are left alone.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 5, 5, 4), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, R.ones((48, 2, 1, 1), "float32"), groups=2, data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
            b = R.nn.conv2d(x, R.ones((24, 2, 1, 1), "float32"), groups=2, data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
            gv = (a, b)
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
    def main(x: R.Tensor((1, 5, 5, 4), dtype="float32")) -> R.Tuple(R.Tensor((1, 5, 5, 48), dtype="float32"), R.Tensor((1, 5, 5, 24), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 5, 5, 48), dtype="float32") = R.nn.conv_pack(x, metadata["ir.GenericConst"][0], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NHWC", kernel_layout="OHWI24o", out_layout="NHWC", out_dtype=None, channels=48, packing="")
            b: R.Tensor((1, 5, 5, 24), dtype="float32") = R.nn.conv2d(x, metadata["ir.GenericConst"][1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC", out_dtype=None)
            gv: R.Tuple(R.Tensor((1, 5, 5, 48), dtype="float32"), R.Tensor((1, 5, 5, 24), dtype="float32")) = a, b
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 1, 1, 2, 24], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
    {"dtype": "float32", "shape": [24, 2, 1, 1], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
]}
