# run: FoldConstant,PackWeights
# target: llvm -mcpu=x86-64-v4 -threads=2
# Held in float32 are weights that the model has narrower and that are read for thousands of pixels; not those read for
# one row, nor for a number of rows that the run tells.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 100, 100), "float16"), y: R.Tensor((1, 2), "float16"), z: R.Tensor(("m", 2), "bfloat16"), w: R.Tensor((5000, 2), "bfloat16")):
        with R.dataflow():
            a = R.nn.conv2d(x, R.ones((16, 2, 1, 1), "float16"))
            b = R.matmul(y, R.ones((2, 96), "float16"))
            c = R.matmul(z, R.ones((2, 96), "bfloat16"))
            d = R.matmul(w, R.ones((2, 96), "bfloat16"))
            gv = (a, b, c, d)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 100, 100), dtype="float16"), y: R.Tensor((1, 2), dtype="float16"), z: R.Tensor((m, 2), dtype="bfloat16"), w: R.Tensor((5000, 2), dtype="bfloat16")) -> R.Tuple(R.Tensor((1, 16, 100, 100), dtype="float16"), R.Tensor((1, 96), dtype="float16"), R.Tensor((m, 96), dtype="bfloat16"), R.Tensor((5000, 96), dtype="bfloat16")):
        with R.dataflow():
            a: R.Tensor((1, 16, 100, 100), dtype="float16") = R.nn.conv_pack(x, metadata["ir.GenericConst"][0], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="float16", channels=16, packing="")
            b: R.Tensor((1, 96), dtype="float16") = R.nn.dense_pack(y, metadata["ir.GenericConst"][1], columns=96, packing="", out_dtype=None)
            c: R.Tensor((m, 96), dtype="bfloat16") = R.nn.dense_pack(z, metadata["ir.GenericConst"][2], columns=96, packing="", out_dtype=None)
            d: R.Tensor((5000, 96), dtype="bfloat16") = R.nn.dense_pack(w, metadata["ir.GenericConst"][3], columns=96, packing="", out_dtype="bfloat16")
            gv: R.Tuple(R.Tensor((1, 16, 100, 100), dtype="float16"), R.Tensor((1, 96), dtype="float16"), R.Tensor((m, 96), dtype="bfloat16"), R.Tensor((5000, 96), dtype="bfloat16")) = a, b, c, d
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 1, 1, 16], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8="},
    {"dtype": "float16", "shape": [2, 2, 48], "data": "ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8"},
    {"dtype": "bfloat16", "shape": [2, 2, 48], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/"},
    {"dtype": "float32", "shape": [2, 2, 48], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
]}
