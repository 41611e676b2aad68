# run: TabulateBytes,DeadCodeElimination
# target: llvm -mcpu=znver4
# x · sigmoid(x) of a byte is looked up, in a table that is computed of all bytes; so is what is computed of that.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 8, 3, "w"), "uint8")):
        with R.dataflow():
            a = R.dequantize(x, R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=1)
            b = R.quantize(R.sigmoid(a), R.const(0.00390625, "float32"), R.const(-128, "int8"), out_dtype="int8", axis=1)
            c = R.dequantize(b, R.const(0.00390625, "float32"), R.const(-128, "int8"), out_dtype="float32", axis=1)
            d = R.quantize(R.multiply(a, c), R.const([0.1], "float32"), R.const(3, "uint8"), out_dtype="uint8", axis=1)
            R.output(b, d)
        return (b, d)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

w = TypeVar("w")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 8, 3, w), dtype="uint8")) -> R.Tuple(R.Tensor((1, 8, 3, w), dtype="int8"), R.Tensor((1, 8, 3, w), dtype="uint8")):
        with R.dataflow():
            lv: R.Tensor((256,), dtype="float32") = R.dequantize(metadata["ir.GenericConst"][0], R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=0)
            lv1: R.Tensor((256,), dtype="float32") = R.sigmoid(lv)
            lv2: R.Tensor((256,), dtype="int8") = R.quantize(lv1, R.const(0.00390625, "float32"), R.const(-128, "int8"), out_dtype="int8", axis=0)
            b: R.Tensor((1, 8, 3, w), dtype="int8") = R.byte_table(x, lv2)
            lv3: R.Tensor((256,), dtype="float32") = R.dequantize(metadata["ir.GenericConst"][1], R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=0)
            lv4: R.Tensor((256,), dtype="float32") = R.sigmoid(lv3)
            lv5: R.Tensor((256,), dtype="int8") = R.quantize(lv4, R.const(0.00390625, "float32"), R.const(-128, "int8"), out_dtype="int8", axis=0)
            lv6: R.Tensor((256,), dtype="float32") = R.dequantize(lv5, R.const(0.00390625, "float32"), R.const(-128, "int8"), out_dtype="float32", axis=0)
            lv7: R.Tensor((256,), dtype="float32") = R.multiply(lv3, lv6)
            lv8: R.Tensor((256,), dtype="uint8") = R.quantize(lv7, R.const(0.1, "float32"), R.const(3, "uint8"), out_dtype="uint8", axis=0)
            d: R.Tensor((1, 8, 3, w), dtype="uint8") = R.byte_table(x, lv8)
            R.output(b, d)
        return (b, d)

metadata = {"ir.GenericConst": [
    {"dtype": "uint8", "shape": [256], "data": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w=="},
    {"dtype": "uint8", "shape": [256], "data": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w=="},
]}
