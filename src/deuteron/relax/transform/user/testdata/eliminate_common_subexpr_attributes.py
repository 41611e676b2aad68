# run: EliminateCommonSubexpr
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,4), "float32")):
        with R.dataflow():
            a = R.sum(x, axis=[0], keepdims=True)
            b = R.sum(x, axis=[0], keepdims=True)
            b2 = R.sum(x, axis=[0], keepdims=False)
            c = R.sum(x, axis=[1], keepdims=True)
            d = R.add(a, c)
            d2 = R.add(b, c)
            e: R.Tensor(ndim=2, dtype="float32") = R.sum(x, axis=[0], keepdims=True)
            f = R.multiply(d, e)
            R.output(d, d2, e, b2)
        return (d, d2, e, b2)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"), R.Tensor(dtype="float32", ndim=2), R.Tensor((4,), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 4), dtype="float32") = R.sum(x, axis=[0], keepdims=True)
            b: R.Tensor((1, 4), dtype="float32") = a
            b2: R.Tensor((4,), dtype="float32") = R.sum(x, axis=[0], keepdims=False)
            c: R.Tensor((4, 1), dtype="float32") = R.sum(x, axis=[1], keepdims=True)
            d: R.Tensor((4, 4), dtype="float32") = R.add(a, c)
            d2: R.Tensor((4, 4), dtype="float32") = d
            e: R.Tensor(dtype="float32", ndim=2) = R.sum(x, axis=[0], keepdims=True)
            f: R.Tensor(dtype="float32", ndim=2) = R.multiply(d, e)
            R.output(b2, d, d2, e)
        return (d, d2, e, b2)
