# run: FoldConstant,PackWeights,DeadCodeElimination
# target: llvm -mcpu=x86-64-v4 -mattr=+avx512bf16
# config: precision=bf16
# Where the CPU adds up products of pairs of bfloat16, float32 is rounded to it and bfloat16 taken as it is: once for all
# products of a tensor, not for a few columns, not for float16.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m", 3), "float32"), y: R.Tensor((5, 3), "bfloat16"), h: R.Tensor((1, 2), "float16"), i: R.Tensor((1, 3, "n", "n"), "float32")):
        with R.dataflow():
            a = R.matmul(x, R.ones((3, 48), "float32"))
            b = R.nn.dense(x, R.ones((33, 3), "float32"))
            c = R.matmul(y, R.ones((3, 48), "bfloat16"))
            d = R.matmul(h, R.ones((2, 48), "float16"))
            e = R.matmul(x, R.ones((3, 8), "float32"))
            f = R.nn.conv2d(i, R.ones((16, 3, 3, 3), "float32"), padding=[1, 1, 1, 1])
            gv = (a, b, c, d, e, f)
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
    def main(x: R.Tensor((m, 3), dtype="float32"), y: R.Tensor((5, 3), dtype="bfloat16"), h: R.Tensor((1, 2), dtype="float16"), i: R.Tensor((1, 3, n, n), dtype="float32")) -> R.Tuple(R.Tensor((m, 48), dtype="float32"), R.Tensor((m, 33), dtype="float32"), R.Tensor((5, 48), dtype="bfloat16"), R.Tensor((1, 48), dtype="float16"), R.Tensor((m, 8), dtype="float32"), R.Tensor((1, 16, n, n), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((m, 2), dtype="int32") = R.pack_bf16x2(x, axis=-1)
            a: R.Tensor((m, 48), dtype="float32") = R.nn.dense_pack(lv, metadata["ir.GenericConst"][0], columns=48, packing="bf16x2", out_dtype="float32")
            b: R.Tensor((m, 33), dtype="float32") = R.nn.dense_pack(lv, metadata["ir.GenericConst"][1], columns=33, packing="bf16x2", out_dtype="float32")
            lv1: R.Tensor((5, 2), dtype="int32") = R.pack_bf16x2(y, axis=-1)
            c: R.Tensor((5, 48), dtype="bfloat16") = R.nn.dense_pack(lv1, metadata["ir.GenericConst"][2], columns=48, packing="bf16x2", out_dtype="bfloat16")
            d: R.Tensor((1, 48), dtype="float16") = R.matmul(h, metadata["ir.GenericConst"][3], out_dtype=None)
            e: R.Tensor((m, 8), dtype="float32") = R.nn.dense_pack(x, metadata["ir.GenericConst"][4], columns=8, packing="", out_dtype="float32")
            lv2: R.Tensor((1, 2, n, n), dtype="int32") = R.pack_bf16x2(i, axis=1)
            f: R.Tensor((1, 16, n, n), dtype="float32") = R.nn.conv_pack(lv2, metadata["ir.GenericConst"][5], strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="float32", channels=16, packing="bf16x2")
            gv: R.Tuple(R.Tensor((m, 48), dtype="float32"), R.Tensor((m, 33), dtype="float32"), R.Tensor((5, 48), dtype="bfloat16"), R.Tensor((1, 48), dtype="float16"), R.Tensor((m, 8), dtype="float32"), R.Tensor((1, 16, n, n), dtype="float32")) = a, b, c, d, e, f
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [1, 2, 48], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAA"},
    {"dtype": "int32", "shape": [1, 2, 48], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
    {"dtype": "int32", "shape": [1, 2, 48], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAA"},
    {"dtype": "float16", "shape": [2, 48], "data": "ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8ADwAPAA8"},
    {"dtype": "bfloat16", "shape": [1, 3, 16], "data": "gD+AP4A/gD+AP4A/gD+APwAAAAAAAAAAAAAAAAAAAACAP4A/gD+AP4A/gD+AP4A/AAAAAAAAAAAAAAAAAAAAAIA/gD+AP4A/gD+AP4A/gD8AAAAAAAAAAAAAAAAAAAAA"},
    {"dtype": "int32", "shape": [2, 3, 3, 16], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAA"},
]}
