# run: FoldConstant
# Rows of a table that constants name, and one from the end; what lies outside is left to the operator.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            w = R.const([[1, 2], [3, 4], [5, 6]], "float32")
            a = R.take(w, R.const([2, 0], "int64"), axis=0)
            b = R.take(w, R.const([[1], [0]], "int32"), axis=1)
            c = R.take(w, R.const([0, 3], "int64"), axis=0, mode="clip")
            y = R.add(R.add(x, a), c)
            R.output(y, b)
        return (y, b)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32")) -> R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((3, 2, 1), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 2), dtype="float32") = R.add(x, metadata["ir.GenericConst"][0])
            y: R.Tensor((2, 2), dtype="float32") = R.add(lv, metadata["ir.GenericConst"][1])
            R.output(y)
        return (y, metadata["ir.GenericConst"][2])

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 2], "data": "AACgQAAAwEAAAIA/AAAAQA=="},
    {"dtype": "float32", "shape": [2, 2], "data": "AACAPwAAAEAAAKBAAADAQA=="},
    {"dtype": "float32", "shape": [3, 2, 1], "data": "AAAAQAAAgD8AAIBAAABAQAAAwEAAAKBA"},
]}
