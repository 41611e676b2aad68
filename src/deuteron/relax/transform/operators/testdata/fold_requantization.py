# run: FoldRequantization,DeadCodeElimination
# Scales of sums and of results are one factor, along channels if one of them is. What a batch norm does between two
# quantisations is a multiplication and an addition, and a residual is scaled once.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 3, 3), "int32"), r: R.Tensor((1, 2, 3, 3), "int8")):
        with R.dataflow():
            a = R.multiply(R.astype(x, "float32"), R.const([[[0.5]], [[2]]], "float32"))
            b = R.quantize(a, R.const(0.25, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            c = R.dequantize(b, R.const(0.25, "float32"), R.const(7, "uint8"), out_dtype="float32", axis=0)
            d = R.divide(R.subtract(c, R.const([[[[0.5]], [[1.5]]]], "float32")), R.const([[[[2]], [[4]]]], "float32"))
            e = R.add(R.multiply(R.const([[[[8]], [[3]]]], "float32"), d), R.const([[[[1]], [[0]]]], "float32"))
            f = R.quantize(e, R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            g = R.dequantize(f, R.const(0.5, "float32"), R.const(0, "uint8"), out_dtype="float32", axis=0)
            h = R.subtract(g, R.dequantize(r, R.const(0.125, "float32"), R.const(-3, "int8"), out_dtype="float32", axis=0))
            gv = R.quantize(h, R.const(0.5, "float32"), R.const(1, "int8"), out_dtype="int8", axis=0)
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
    def main(x: R.Tensor((1, 2, 3, 3), dtype="int32"), r: R.Tensor((1, 2, 3, 3), dtype="int8")) -> R.Tensor((1, 2, 3, 3), dtype="int8"):
        with R.dataflow():
            lv: R.Tensor((1, 2, 3, 3), dtype="float32") = R.astype(x, dtype="float32")
            lv_1: R.Tensor((1, 2, 3, 3), dtype="float32") = R.multiply(lv, metadata["ir.GenericConst"][0])
            lv1: R.Tensor((1, 2, 3, 3), dtype="float32") = R.round(lv_1)
            lv2: R.Tensor((1, 2, 3, 3), dtype="float32") = R.clip(lv1, T.float32(-7.0), T.float32(248.0))
            lv3: R.Tensor((1, 2, 3, 3), dtype="float32") = R.multiply(lv2, metadata["ir.GenericConst"][1])
            lv4: R.Tensor((1, 2, 3, 3), dtype="float32") = R.add(lv3, metadata["ir.GenericConst"][2])
            lv5: R.Tensor((1, 2, 3, 3), dtype="float32") = R.round(lv4)
            lv6: R.Tensor((1, 2, 3, 3), dtype="float32") = R.clip(lv5, T.float32(0.0), T.float32(255.0))
            lv7: R.Tensor((1, 2, 3, 3), dtype="float32") = R.astype(r, dtype="float32")
            lv8: R.Tensor((1, 2, 3, 3), dtype="float32") = R.multiply(lv7, R.const(-0.25, "float32"))
            lv9: R.Tensor((1, 2, 3, 3), dtype="float32") = R.add(lv6, lv8)
            lv10: R.Tensor((1, 2, 3, 3), dtype="float32") = R.add(lv9, R.const(-0.75, "float32"))
            gv: R.Tensor((1, 2, 3, 3), dtype="int8") = R.quantize(lv10, R.const(1.0, "float32"), R.const(1, "int8"), out_dtype="int8", axis=0)
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 1, 1], "data": "AAAAQAAAAEE="},
    {"dtype": "float32", "shape": [2, 1, 1], "data": "AAAAQAAAwD4="},
    {"dtype": "float32", "shape": [2, 1, 1], "data": "AAAAwAAAEMA="},
]}
