# run: FoldConstant
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, "n"), "float32")):
        n = T.int64()
        with R.dataflow():
            scale = R.ones(R.shape([1]), dtype="float32")
            per_element = R.match_cast(scale, R.Tensor((n,), "float32"))
            y = R.multiply(x, per_element)
            R.output(y)
        return y
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
    def main(x: R.Tensor((3, n), dtype="float32")) -> R.Tensor((3, n), dtype="float32"):
        with R.dataflow():
            per_element: R.Tensor((n,), dtype="float32") = R.match_cast(metadata["ir.GenericConst"][0], R.Tensor((n,), dtype="float32"))
            y: R.Tensor((3, n), dtype="float32") = R.multiply(x, per_element)
            R.output(y)
        return y

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [1], "data": "AACAPw=="},
]}
