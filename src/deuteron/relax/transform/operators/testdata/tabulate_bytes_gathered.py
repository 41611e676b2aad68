# run: TabulateBytes,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3
# Where elements of a table are gathered, it takes a function: less work is none.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "uint8")):
        with R.dataflow():
            a = R.dequantize(x, R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=1)
            b = R.quantize(R.sigmoid(a), R.const(0.00390625, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=1)
            c = R.quantize(R.divide(R.nn.relu(R.add(a, R.const(3, "float32"))), R.const(6, "float32")), R.const(0.1, "float32"), R.const(3, "uint8"), out_dtype="uint8", axis=1)
            gv = (b, c)
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
    def main(x: R.Tensor((2, 3), dtype="uint8")) -> R.Tuple(R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8")):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32") = R.dequantize(x, R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=1)
            lv: R.Tensor((256,), dtype="float32") = R.dequantize(metadata["ir.GenericConst"][0], R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=0)
            lv1: R.Tensor((256,), dtype="float32") = R.sigmoid(lv)
            lv2: R.Tensor((256,), dtype="uint8") = R.quantize(lv1, R.const(0.00390625, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            b: R.Tensor((2, 3), dtype="uint8") = R.byte_table(x, lv2)
            lv1_1: R.Tensor((2, 3), dtype="float32") = R.add(a, R.const(3.0, "float32"))
            lv2_1: R.Tensor((2, 3), dtype="float32") = R.nn.relu(lv1_1)
            lv3: R.Tensor((2, 3), dtype="float32") = R.divide(lv2_1, R.const(6.0, "float32"))
            c: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv3, R.const(0.1, "float32"), R.const(3, "uint8"), out_dtype="uint8", axis=1)
            gv: R.Tuple(R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8")) = b, c
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "uint8", "shape": [256], "data": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w=="},
]}
