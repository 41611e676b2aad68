# run: FoldConstant,PackWeights
# target: llvm -mcpu=x86-64-v3
# config: precision=bf16
# Held in bfloat16 are weights that are read for rows or pixels whose number the run tells; not one that is read for thousands
# of rows, nor what is half a float already or has no products.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m", 2), "float32"), y: R.Tensor((5000, 2), "float32"), h: R.Tensor((1, 2), "float16"), i: R.Tensor((1, 2, "n", "n"), "float32")):
        with R.dataflow():
            a = R.matmul(x, R.ones((2, 48), "float32"))
            b = R.matmul(y, R.ones((2, 48), "float32"))
            c = R.matmul(h, R.ones((2, 48), "float16"))
            d = R.nn.conv2d(i, R.ones((16, 2, 1, 1), "float32"))
            e = R.add(x, R.ones((2,), "float32"))
            gv = (a, b, c, d, e)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((m, 2), dtype="float32"), y: R.Tensor((5000, 2), dtype="float32"), h: R.Tensor((1, 2), dtype="float16"), i: R.Tensor((1, 2, n, n), dtype="float32")) -> R.Tuple(R.Tensor((m, 48), dtype="float32"), R.Tensor((5000, 48), dtype="float32"), R.Tensor((1, 48), dtype="float16"), R.Tensor((1, 16, n, n), dtype="float32"), R.Tensor((m, 2), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((m, 48), dtype="float32") = R.nn.dense_pack(x, metadata["ir.GenericConst"][0], columns=48, packing="", out_dtype="float32")
            b: R.Tensor((5000, 48), dtype="float32") = R.nn.dense_pack(y, metadata["ir.GenericConst"][1], columns=48, packing="", out_dtype=None)
            c: R.Tensor((1, 48), dtype="float16") = R.nn.dense_pack(h, metadata["ir.GenericConst"][2], columns=48, packing="", out_dtype=None)
            d: R.Tensor((1, 16, n, n), dtype="float32") = R.nn.conv_pack(i, metadata["ir.GenericConst"][3], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="float32", channels=16, packing="")
            e: R.Tensor((m, 2), dtype="float32") = R.add(x, metadata["ir.GenericConst"][4])
            gv: R.Tuple(R.Tensor((m, 48), dtype="float32"), R.Tensor((5000, 48), dtype="float32"), R.Tensor((1, 48), dtype="float16"), R.Tensor((1, 16, n, n), dtype="float32"), R.Tensor((m, 2), dtype="float32")) = a, b, c, d, e
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "bfloat16", "shape": [2, 2, 24], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/"},
    {"dtype": "float32", "shape": [2, 2, 24], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
    {"dtype": "float16", "shape": [2, 2, 24], "data": "ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8"},
    {"dtype": "bfloat16", "shape": [2, 1, 1, 16], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+APw=="},
    {"dtype": "float32", "shape": [2], "data": "AACAPwAAgD8="},
]}
