# run: FoldConstant,PackWeights,DeadCodeElimination
# target: llvm -mcpu=x86-64-v4 -mattr=+avx512bf16
# config: precision=bf16
# Pairs that lie beside each other are rounded where they are computed, for what is not, and seen as pairs.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m", 4), "float32"), y: R.Tensor((5, 4), "bfloat16"), i: R.Tensor((1, 3, 3, 4), "float32")):
        with R.dataflow():
            r = R.nn.relu(x)
            a = R.matmul(r, R.ones((4, 48), "float32"))
            b = R.nn.dense(r, R.ones((33, 4), "float32"))
            c = R.matmul(y, R.ones((4, 48), "bfloat16"))
            d = R.nn.conv2d(i, R.ones((16, 4, 3, 3), "float32"), padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
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
    def main(x: R.Tensor((m, 4), dtype="float32"), y: R.Tensor((5, 4), dtype="bfloat16"), i: R.Tensor((1, 3, 3, 4), dtype="float32")) -> R.Tuple(R.Tensor((m, 48), dtype="float32"), R.Tensor((m, 33), dtype="float32"), R.Tensor((5, 48), dtype="bfloat16"), R.Tensor((1, 3, 3, 16), dtype="float32")):
        with R.dataflow():
            r: R.Tensor((m, 4), dtype="float32") = R.nn.relu(x)
            lv: R.Tensor((m, 4), dtype="bfloat16") = R.astype(r, dtype="bfloat16")
            lv1: R.Tensor((m, 2), dtype="int32") = R.memory.view(lv, R.shape([m, 2]), R.dtype("int32"), R.tuple())
            a: R.Tensor((m, 48), dtype="float32") = R.nn.dense_pack(lv1, metadata["ir.GenericConst"][0], columns=48, packing="bf16x2", out_dtype="float32")
            b: R.Tensor((m, 33), dtype="float32") = R.nn.dense_pack(lv1, metadata["ir.GenericConst"][1], columns=33, packing="bf16x2", out_dtype="float32")
            lv2: R.Tensor((5, 2), dtype="int32") = R.memory.view(y, R.shape([5, 2]), R.dtype("int32"), R.tuple())
            c: R.Tensor((5, 48), dtype="bfloat16") = R.nn.dense_pack(lv2, metadata["ir.GenericConst"][2], columns=48, packing="bf16x2", out_dtype="bfloat16")
            lv3: R.Tensor((1, 3, 3, 4), dtype="bfloat16") = R.astype(i, dtype="bfloat16")
            lv4: R.Tensor((1, 3, 3, 2), dtype="int32") = R.memory.view(lv3, R.shape([1, 3, 3, 2]), R.dtype("int32"), R.tuple())
            d: R.Tensor((1, 3, 3, 16), dtype="float32") = R.nn.conv_pack(lv4, metadata["ir.GenericConst"][3], strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC", out_dtype="float32", channels=16, packing="bf16x2")
            gv: R.Tuple(R.Tensor((m, 48), dtype="float32"), R.Tensor((m, 33), dtype="float32"), R.Tensor((5, 48), dtype="bfloat16"), R.Tensor((1, 3, 3, 16), dtype="float32")) = a, b, c, d
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [1, 2, 48], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/"},
    {"dtype": "int32", "shape": [1, 2, 48], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
    {"dtype": "int32", "shape": [1, 2, 48], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/"},
    {"dtype": "int32", "shape": [3, 3, 2, 16], "data": "gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/gD+AP4A/"},
]}
