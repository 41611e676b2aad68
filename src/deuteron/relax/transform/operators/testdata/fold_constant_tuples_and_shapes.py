# run: FoldConstant
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            s = R.shape_of(x)
            t = R.shape_to_tensor(s)
            u = R.add(R.const(1, "int64"), t)
            v = R.tensor_to_shape(u)
            w = R.reshape(R.zeros(R.shape([12]), dtype="float32"), R.shape([3, 4]))
            p = (w, u)
            R.output(v, p)
        return (v, p)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Shape(ndim=2), R.Tuple(R.Tensor((3, 4), dtype="float32"), R.Tensor((2,), dtype="int64"))):
        with R.dataflow():
            s: R.Shape([2, 3]) = R.shape_of(x)
            t: R.Tensor((2,), dtype="int64") = R.shape_to_tensor(s)
            u: R.Tensor((2,), dtype="int64") = R.add(R.const(1, "int64"), t)
            v: R.Shape(ndim=2) = R.tensor_to_shape(u)
            p: R.Tuple(R.Tensor((3, 4), dtype="float32"), R.Tensor((2,), dtype="int64")) = metadata["ir.GenericConst"][0], u
            R.output(v, p)
        return (v, p)

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [3, 4], "data": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
]}
