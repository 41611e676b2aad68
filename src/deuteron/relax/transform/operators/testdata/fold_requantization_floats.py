# run: FoldRequantization,DeadCodeElimination
# x · sigmoid(x) of quantised values: integers that nothing but a dequantisation reads stay floats, of which the product
# is scaled once. What is quantised first keeps its division. Two zero points need not be one.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "int32")):
        with R.dataflow():
            a = R.multiply(R.astype(x, "float32"), R.const(0.5, "float32"))
            b = R.quantize(a, R.const(0.25, "float32"), R.const(7, "uint8"), out_dtype="uint8", axis=0)
            c = R.dequantize(b, R.const(0.25, "float32"), R.const(7, "uint8"), out_dtype="float32", axis=0)
            d = R.sigmoid(c)
            e = R.quantize(d, R.const(0.003, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            f = R.dequantize(e, R.const(0.003, "float32"), R.const(0, "uint8"), out_dtype="float32", axis=0)
            gv = R.quantize(R.multiply(c, f), R.const(0.125, "float32"), R.const(1, "int8"), out_dtype="int8", axis=0)
            h = R.dequantize(R.quantize(c, R.const(0.3, "float32"), R.const(2, "uint8"), out_dtype="uint8", axis=0), R.const(0.5, "float32"), R.const(5, "uint8"), out_dtype="float32", axis=0)
            k = R.dequantize(R.quantize(d, R.const(0.3, "float32"), R.const(2, "uint8"), out_dtype="uint8", axis=0), R.const(0.5, "float32"), R.const(5, "uint8"), out_dtype="float32", axis=0)
            n = R.quantize(h, R.const(0.25, "float32"), R.const(1, "int8"), out_dtype="int8", axis=0)
            R.output(gv, n, k)
        return (gv, n, k)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="int32")) -> R.Tuple(R.Tensor((2, 3), dtype="int8"), R.Tensor((2, 3), dtype="int8"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 3), dtype="float32") = R.astype(x, dtype="float32")
            lv_1: R.Tensor((2, 3), dtype="float32") = R.multiply(lv, R.const(2.0, "float32"))
            lv1: R.Tensor((2, 3), dtype="float32") = R.round(lv_1)
            lv2: R.Tensor((2, 3), dtype="float32") = R.clip(lv1, T.float32(-7.0), T.float32(248.0))
            c: R.Tensor((2, 3), dtype="float32") = R.multiply(lv2, R.const(0.25, "float32"))
            d: R.Tensor((2, 3), dtype="float32") = R.sigmoid(c)
            lv3: R.Tensor((2, 3), dtype="float32") = R.divide(d, R.const(0.003, "float32"))
            lv4: R.Tensor((2, 3), dtype="float32") = R.round(lv3)
            lv5: R.Tensor((2, 3), dtype="float32") = R.clip(lv4, T.float32(0.0), T.float32(255.0))
            lv6: R.Tensor((2, 3), dtype="float32") = R.multiply(lv2, lv5)
            lv7: R.Tensor((2, 3), dtype="float32") = R.multiply(lv6, R.const(0.006, "float32"))
            gv: R.Tensor((2, 3), dtype="int8") = R.quantize(lv7, R.const(1.0, "float32"), R.const(1, "int8"), out_dtype="int8", axis=0)
            lv8: R.Tensor((2, 3), dtype="float32") = R.multiply(lv2, R.const(0.8333333, "float32"))
            lv9: R.Tensor((2, 3), dtype="float32") = R.divide(d, R.const(0.3, "float32"))
            lv3_1: R.Tensor((2, 3), dtype="uint8") = R.quantize(lv9, R.const(1.0, "float32"), R.const(2, "uint8"), out_dtype="uint8", axis=0)
            k: R.Tensor((2, 3), dtype="float32") = R.dequantize(lv3_1, R.const(0.5, "float32"), R.const(5, "uint8"), out_dtype="float32", axis=0)
            lv10: R.Tensor((2, 3), dtype="float32") = R.round(lv8)
            lv11: R.Tensor((2, 3), dtype="float32") = R.clip(lv10, T.float32(-2.0), T.float32(253.0))
            lv12: R.Tensor((2, 3), dtype="float32") = R.multiply(lv11, R.const(2.0, "float32"))
            lv13: R.Tensor((2, 3), dtype="float32") = R.add(lv12, R.const(-6.0, "float32"))
            n: R.Tensor((2, 3), dtype="int8") = R.quantize(lv13, R.const(1.0, "float32"), R.const(1, "int8"), out_dtype="int8", axis=0)
            R.output(gv, k, n)
        return (gv, n, k)
