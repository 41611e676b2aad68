# run: DropBounds,DeadCodeElimination
# The integers 0 and 255 stand for the bounds, or for what is within them.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.quantize(R.nn.relu(x), R.const(0.1, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            b = R.quantize(R.clip(x, 0.0, 6.0), R.const(0.0235, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            c = R.quantize(R.minimum(R.maximum(R.const(0, "float32"), x), R.const(6, "float32")), R.const(0.0235, "float32"), R.const(-128, "int8"), out_dtype="int8", axis=0)
            d = R.quantize(R.clip(R.nn.relu(x), -1.0, 7.0), R.const(0.0235, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            gv = (a, b, c, d)
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
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="int8"), R.Tensor((2, 3), dtype="uint8")):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="uint8") = R.quantize(x, R.const(0.1, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            b: R.Tensor((2, 3), dtype="uint8") = R.quantize(x, R.const(0.0235, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            c: R.Tensor((2, 3), dtype="int8") = R.quantize(x, R.const(0.0235, "float32"), R.const(-128, "int8"), out_dtype="int8", axis=0)
            d: R.Tensor((2, 3), dtype="uint8") = R.quantize(x, R.const(0.0235, "float32"), R.const(0, "uint8"), out_dtype="uint8", axis=0)
            gv: R.Tuple(R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="uint8"), R.Tensor((2, 3), dtype="int8"), R.Tensor((2, 3), dtype="uint8")) = a, b, c, d
            R.output(gv)
        return gv
