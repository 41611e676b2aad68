# run: FoldConstant
# config: tvm_compat=true
# TVM takes a value to fill with for a tensor that comes in, and leaves arange.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), large: R.Tensor((2, 2), "float32")):
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
    def main(x: R.Tensor((2, 3), dtype="float32"), large: R.Tensor((2, 2), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            b: R.Tensor((2, 3), dtype="float32") = R.add(x, metadata["ir.GenericConst"][0])
            d: R.Tensor((3,), dtype="float32") = R.arange(0, 6, 2, dtype="float32")
            e: R.Tensor((2, 3), dtype="float32") = R.add(x, d)
            R.output(b, e)
        return (b, metadata["ir.GenericConst"][1], e)

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 3], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
    {"dtype": "float32", "shape": [2, 2], "data": "AAAAQAAAAEAAAABAAAAAQA=="},
]}
