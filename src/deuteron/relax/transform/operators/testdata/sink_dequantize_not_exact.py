# run: SinkDequantize,DeadCodeElimination
# A scale that may be 0 or negative: the greatest element need not stay the greatest, nor come back.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 6, 6), "uint8"), s: R.Tensor((), "float32")):
        with R.dataflow():
            a = R.dequantize(x, s, R.const(3, "uint8"), axis=0, out_dtype="float32")
            p = R.nn.max_pool2d(a, pool_size=[2, 2], strides=[2, 2])
            q = R.quantize(p, s, R.const(3, "uint8"), axis=0, out_dtype="uint8")
            b = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            c = R.dequantize(x, R.const(0.5, "float32"), R.const(4, "uint8"), axis=0, out_dtype="float32")
            d = R.concat((b, c), axis=1)
            R.output(q, d)
        return (q, d)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 6, 6), dtype="uint8"), s: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((1, 4, 3, 3), dtype="uint8"), R.Tensor((1, 8, 6, 6), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 4, 6, 6), dtype="float32") = R.dequantize(x, s, R.const(3, "uint8"), out_dtype="float32", axis=0)
            p: R.Tensor((1, 4, 3, 3), dtype="float32") = R.nn.max_pool2d(a, pool_size=[2, 2], strides=[2, 2], dilation=[1, 1], padding=[0, 0, 0, 0], ceil_mode=False, count_include_pad=False, layout="NCHW", out_layout="NCHW")
            q: R.Tensor((1, 4, 3, 3), dtype="uint8") = R.quantize(p, s, R.const(3, "uint8"), out_dtype="uint8", axis=0)
            b: R.Tensor((1, 4, 6, 6), dtype="float32") = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), out_dtype="float32", axis=0)
            c: R.Tensor((1, 4, 6, 6), dtype="float32") = R.dequantize(x, R.const(0.5, "float32"), R.const(4, "uint8"), out_dtype="float32", axis=0)
            d: R.Tensor((1, 8, 6, 6), dtype="float32") = R.concat((b, c), axis=1)
            R.output(q, d)
        return (q, d)
