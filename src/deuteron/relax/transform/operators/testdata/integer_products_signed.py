# run: IntegerProducts,DeadCodeElimination
# target: neoverse-n1
# A target that multiplies int8 and no pairs of int16 is given weights that fit: not those whose zero points lie far off.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "uint8")):
        with R.dataflow():
            a = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            w = R.dequantize(R.const([[1, -2], [3, 4]], "int8"), R.const(0.25, "float32"), R.const(0, "int8"), axis=0, out_dtype="float32")
            b = R.matmul(a, w)
            v = R.dequantize(R.const([[1, -2], [3, 4]], "int8"), R.const(0.25, "float32"), R.const(-125, "int8"), axis=0, out_dtype="float32")
            c = R.matmul(a, v)
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
    def main(x: R.Tensor((2, 2), dtype="uint8")) -> R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((2, 2), dtype="float32") = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), out_dtype="float32", axis=0)
            lv: R.Tensor((2, 2), dtype="int32") = R.astype(x, dtype="int32")
            lv1: R.Tensor((2, 2), dtype="int32") = R.subtract(lv, R.const(3, "int32"))
            lv2: R.Tensor((2, 2), dtype="int32") = R.matmul(lv1, metadata["ir.GenericConst"][0], out_dtype="int32")
            lv3: R.Tensor((2, 2), dtype="float32") = R.astype(lv2, dtype="float32")
            b: R.Tensor((2, 2), dtype="float32") = R.multiply(lv3, R.const(0.125, "float32"))
            v: R.Tensor((2, 2), dtype="float32") = R.dequantize(metadata["ir.GenericConst"][1], R.const(0.25, "float32"), R.const(-125, "int8"), out_dtype="float32", axis=0)
            c: R.Tensor((2, 2), dtype="float32") = R.matmul(a, v, out_dtype=None)
            gv: R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32")) = b, c
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int8", "shape": [2, 2], "data": "Af4DBA=="},
    {"dtype": "int8", "shape": [2, 2], "data": "Af4DBA=="},
]}
