# run: DropBounds
# Bounds that are no integer's, of a zero point within, of channels, of what the run tells, and those that others read.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), s: R.Tensor((), "float32"), y: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.quantize(R.nn.relu(x), R.const(0.1, "float32"), R.const(3, "uint8"), out_dtype="uint8", axis=0)
            b = R.quantize(R.clip(x, 0.0, 6.0), R.const(0.024, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            c = R.quantize(R.nn.relu(x), s, R.const(0, "uint8"), out_dtype="uint8", axis=0)
            d = R.quantize(R.nn.relu(x), R.const([0.1, 0.2], "float32"), R.const([0, 0], "uint8"), out_dtype="uint8", axis=0)
            e = R.nn.relu(x)
            f = R.quantize(e, R.const(0.1, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            g = R.exp(e)
            h = R.quantize(R.maximum(y, R.const([[0]], "float32")), R.const(0.1, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            i = R.quantize(R.clip(R.nn.relu(x), -1.0, 1.0), R.const(0.0235, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            gv = (a, b, c, d, f, g, h, i)
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
    def main(x: R.Tensor((2, 3), dtype="float32"), s: R.Tensor((), dtype="float32"), y: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="float32"), R.Tensor((1, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8")):
        with R.dataflow():
            lv: R.Tensor((2, 3), dtype="float32") = R.nn.relu(x)
            a: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv, R.const(0.1, "float32"), R.const(3, "uint8"), out_dtype="uint8", axis=0)
            lv1: R.Tensor((2, 3), dtype="float32") = R.clip(x, T.float64(0.0), T.float64(6.0))
            b: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv1, R.const(0.024, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            lv2: R.Tensor((2, 3), dtype="float32") = R.nn.relu(x)
            c: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv2, s, R.const(0, "uint8"), out_dtype="uint8", axis=0)
            lv3: R.Tensor((2, 3), dtype="float32") = R.nn.relu(x)
            d: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv3, metadata["ir.GenericConst"][0], metadata["ir.GenericConst"][1], out_dtype="uint8", axis=0)
            e: R.Tensor((2, 3), dtype="float32") = R.nn.relu(x)
            f: R.Tensor((2, 3), dtype="uint8") = R.quantize(e, R.const(0.1, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            g: R.Tensor((2, 3), dtype="float32") = R.exp(e)
            lv4: R.Tensor((1, 3), dtype="float32") = R.maximum(y, metadata["ir.GenericConst"][2])
            h: R.Tensor((1, 3), dtype="uint8") = R.quantize(lv4, R.const(0.1, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            lv5: R.Tensor((2, 3), dtype="float32") = R.nn.relu(x)
            lv6: R.Tensor((2, 3), dtype="float32") = R.clip(lv5, T.float64(-1.0), T.float64(1.0))
            i: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv6, R.const(0.0235, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            gv: R.Tuple(R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="float32"), R.Tensor((1, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8")) = a, b, c, d, f, g, h, i
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2], "data": "zczMPc3MTD4="},
    {"dtype": "uint8", "shape": [2], "data": "AAA="},
    {"dtype": "float32", "shape": [1, 1], "data": "AAAAAA=="},
]}
