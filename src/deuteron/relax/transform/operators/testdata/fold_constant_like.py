# run: FoldConstant
# What takes nothing but the shape of its argument is a constant, where that is small.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), large: R.Tensor((64, 64), "float32")):
        with R.dataflow():
            a = R.ones_like(x)
            b = R.add(x, a)
            c = R.full_like(large, R.const(2, "float32"))
            d = R.arange(0, 6, 2, dtype="float32")
            e = R.add(x, d)
            R.output(b, c, e)
        return (b, c, e)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), large: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            b: R.Tensor((2, 3), dtype="float32") = R.add(x, metadata["ir.GenericConst"][0])
            c: R.Tensor((64, 64), dtype="float32") = R.full_like(large, R.const(2.0, "float32"), dtype=None)
            e: R.Tensor((2, 3), dtype="float32") = R.add(x, metadata["ir.GenericConst"][1])
            R.output(b, c, e)
        return (b, c, e)

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 3], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
    {"dtype": "float32", "shape": [3], "data": "AAAAAAAAAEAAAIBA"},
]}
