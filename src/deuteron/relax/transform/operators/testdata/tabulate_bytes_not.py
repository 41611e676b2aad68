# run: TabulateBytes
# target: llvm -mcpu=znver4
# Two tensors of bytes, a scale by channel, one that the run tells, floats, and little work are no tables.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "uint8"), y: R.Tensor((2, 3), "uint8"), s: R.Tensor((), "float32"), f: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.dequantize(x, R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=0)
            b = R.dequantize(y, R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=0)
            two = R.quantize(R.sigmoid(R.add(a, b)), R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            channels = R.dequantize(x, R.const([0.125, 0.25], "float32"), R.const(0, "uint8"), out_dtype="float32", axis=0)
            scaled = R.quantize(R.sigmoid(channels), R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            told = R.quantize(R.sigmoid(a), s, R.const(0, "uint8"), out_dtype="uint8", axis=0)
            floats = R.quantize(R.sigmoid(f), R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            little = R.quantize(R.nn.relu(a), R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            R.output(two, scaled, told, floats, little)
        return (two, scaled, told, floats, little)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="uint8"), y: R.Tensor((2, 3), dtype="uint8"), s: R.Tensor((), dtype="float32"), f: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8")):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32") = R.dequantize(x, R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=0)
            b: R.Tensor((2, 3), dtype="float32") = R.dequantize(y, R.const(0.125, "float32"), R.const(100, "uint8"), out_dtype="float32", axis=0)
            lv: R.Tensor((2, 3), dtype="float32") = R.add(a, b)
            lv1: R.Tensor((2, 3), dtype="float32") = R.sigmoid(lv)
            two: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv1, R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            channels: R.Tensor((2, 3), dtype="float32") = R.dequantize(x, metadata["ir.GenericConst"][0], R.const(0, "uint8"), out_dtype="float32", axis=0)
            lv2: R.Tensor((2, 3), dtype="float32") = R.sigmoid(channels)
            scaled: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv2, R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            lv3: R.Tensor((2, 3), dtype="float32") = R.sigmoid(a)
            told: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv3, s, R.const(0, "uint8"), out_dtype="uint8", axis=0)
            lv4: R.Tensor((2, 3), dtype="float32") = R.sigmoid(f)
            floats: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv4, R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            lv5: R.Tensor((2, 3), dtype="float32") = R.nn.relu(a)
            little: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv5, R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            R.output(two, scaled, told, floats, little)
        return (two, scaled, told, floats, little)

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2], "data": "AAAAPgAAgD4="},
]}
