# run: IntegerProducts,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3 -mattr=+avxvnni
# Both matrices are given by the run, each with one scale. Of a depth that is not known sums may not be exact; a scale for
# each column is none of a product of integers.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, 8), "uint8"), y: R.Tensor((2, 8, 3), "int8"), r: R.Tensor((4, "n"), "uint8"), s: R.Tensor(("n", 3), "int8"), v: R.Tensor((8, 3), "int8")):
        n = T.int64()
        with R.dataflow():
            a = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            b = R.dequantize(y, R.const(0.25, "float32"), R.const(-1, "int8"), axis=0, out_dtype="float32")
            c = R.matmul(a, b)
            p = R.dequantize(r, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            q = R.dequantize(s, R.const(0.25, "float32"), R.const(-1, "int8"), axis=0, out_dtype="float32")
            d = R.matmul(p, q)
            w = R.dequantize(v, R.const([0.25, 0.5, 1], "float32"), R.const(0, "int8"), axis=1, out_dtype="float32")
            e = R.matmul(a, w)
            gv = (c, d, e)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, 8), dtype="uint8"), y: R.Tensor((2, 8, 3), dtype="int8"), r: R.Tensor((4, n), dtype="uint8"), s: R.Tensor((n, 3), dtype="int8"), v: R.Tensor((8, 3), dtype="int8")) -> R.Tuple(R.Tensor((2, 4, 3), dtype="float32"), R.Tensor((4, 3), dtype="float32"), R.Tensor((2, 4, 3), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((2, 4, 8), dtype="float32") = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), out_dtype="float32", axis=0)
            lv: R.Tensor((2, 4, 8), dtype="int32") = R.astype(x, dtype="int32")
            lv1: R.Tensor((2, 4, 8), dtype="int32") = R.subtract(lv, R.const(3, "int32"))
            lv2: R.Tensor((2, 8, 3), dtype="int32") = R.astype(y, dtype="int32")
            lv3: R.Tensor((2, 8, 3), dtype="int32") = R.subtract(lv2, R.const(-1, "int32"))
            lv4: R.Tensor((2, 4, 3), dtype="int32") = R.matmul(lv1, lv3, out_dtype=None)
            lv5: R.Tensor((2, 4, 3), dtype="float32") = R.astype(lv4, dtype="float32")
            c: R.Tensor((2, 4, 3), dtype="float32") = R.multiply(lv5, R.const(0.125, "float32"))
            p: R.Tensor((4, n), dtype="float32") = R.dequantize(r, R.const(0.5, "float32"), R.const(3, "uint8"), out_dtype="float32", axis=0)
            q: R.Tensor((n, 3), dtype="float32") = R.dequantize(s, R.const(0.25, "float32"), R.const(-1, "int8"), out_dtype="float32", axis=0)
            d: R.Tensor((4, 3), dtype="float32") = R.matmul(p, q, out_dtype=None)
            w: R.Tensor((8, 3), dtype="float32") = R.dequantize(v, metadata["ir.GenericConst"][0], R.const(0, "int8"), out_dtype="float32", axis=1)
            e: R.Tensor((2, 4, 3), dtype="float32") = R.matmul(a, w, out_dtype=None)
            gv: R.Tuple(R.Tensor((2, 4, 3), dtype="float32"), R.Tensor((4, 3), dtype="float32"), R.Tensor((2, 4, 3), dtype="float32")) = c, d, e
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [3], "data": "AACAPgAAAD8AAIA/"},
]}
