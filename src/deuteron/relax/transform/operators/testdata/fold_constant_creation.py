# run: FoldConstant
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((32, 33), "float32")):
        with R.dataflow():
            small = R.zeros(R.shape([2, 2]), dtype="float32")
            large = R.ones(R.shape([32, 33]), dtype="float32")
            a = R.add(x, large)
            R.output(small, a)
        return (small, a)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((32, 33), dtype="float32")) -> R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((32, 33), dtype="float32")):
        with R.dataflow():
            large: R.Tensor((32, 33), dtype="float32") = R.ones(R.shape([32, 33]), dtype="float32")
            a: R.Tensor((32, 33), dtype="float32") = R.add(x, large)
            R.output(a)
        return (metadata["ir.GenericConst"][0], a)

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 2], "data": "AAAAAAAAAAAAAAAAAAAAAA=="},
]}
