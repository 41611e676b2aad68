# run: FoldRequantization,DeadCodeElimination
# What nothing scales keeps its division, which is exact in halves; so do factors along another axis than others, a
# scale that the run tells, one that makes too great a factor, and what is broadcast.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2,), "int8"), s: R.Tensor((), "float32")):
        with R.dataflow():
            a = R.quantize(x, R.const(0.1, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            b = R.multiply(R.multiply(x, R.const([0.5, 2], "float32")), R.const([[0.5], [2]], "float32"))
            c = R.quantize(b, R.const(0.1, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            d = R.multiply(x, R.const(0.5, "float32"))
            e = R.quantize(d, s, R.const(7, "uint8"), out_dtype="uint8", axis=0)
            f = R.quantize(d, R.const(1e-40, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            g = R.add(R.dequantize(y, R.const(0.5, "float32"), R.const(1, "int8"), out_dtype="float32", axis=0), x)
            h = R.quantize(g, R.const(0.1, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            gv = (a, c, e, f, h)
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
    def main(x: R.Tensor((2, 2), dtype="float32"), y: R.Tensor((2,), dtype="int8"), s: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((2, 2), dtype="uint8"), R.Tensor((2, 2), dtype="uint8"), R.Tensor((2, 2), dtype="uint8"), R.Tensor((2, 2), dtype="uint8"), R.Tensor((2, 2), dtype="uint8")):
        with R.dataflow():
            a: R.Tensor((2, 2), dtype="uint8") = R.quantize(x, R.const(0.1, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            lv: R.Tensor((2, 2), dtype="float32") = R.multiply(x, metadata["ir.GenericConst"][0])
            b: R.Tensor((2, 2), dtype="float32") = R.multiply(lv, metadata["ir.GenericConst"][1])
            c: R.Tensor((2, 2), dtype="uint8") = R.quantize(b, R.const(0.1, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            d: R.Tensor((2, 2), dtype="float32") = R.multiply(x, R.const(0.5, "float32"))
            e: R.Tensor((2, 2), dtype="uint8") = R.quantize(d, s, R.const(7, "uint8"), out_dtype="uint8", axis=0)
            f: R.Tensor((2, 2), dtype="uint8") = R.quantize(d, R.const(1e-40, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            lv1: R.Tensor((2,), dtype="float32") = R.dequantize(y, R.const(0.5, "float32"), R.const(1, "int8"), out_dtype="float32", axis=0)
            g: R.Tensor((2, 2), dtype="float32") = R.add(lv1, x)
            h: R.Tensor((2, 2), dtype="uint8") = R.quantize(g, R.const(0.1, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            gv: R.Tuple(R.Tensor((2, 2), dtype="uint8"), R.Tensor((2, 2), dtype="uint8"), R.Tensor((2, 2), dtype="uint8"), R.Tensor((2, 2), dtype="uint8"), R.Tensor((2, 2), dtype="uint8")) = a, c, e, f, h
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2], "data": "AAAAPwAAAEA="},
    {"dtype": "float32", "shape": [2, 1], "data": "AAAAPwAAAEA="},
]}
