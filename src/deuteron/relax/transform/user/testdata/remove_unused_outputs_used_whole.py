# run: RemoveUnusedOutputs
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        cls = Module
        a = cls.f(x)
        b = a[0]
        return (a, b)
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        a = R.multiply(y, y)
        b = R.add(y, y)
        return (a, b)
    @R.function(private=True)
    def g(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        a = R.multiply(y, y)
        b = R.add(y, y)
        return (a, b)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        a: R.Tensor((2, 3), dtype="float32") = R.multiply(y, y)
        b: R.Tensor((2, 3), dtype="float32") = R.add(y, y)
        return (a, b)

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")), R.Tensor((2, 3), dtype="float32")):
        cls = Module
        a: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = cls.f(x)
        b: R.Tensor((2, 3), dtype="float32") = a[0]
        return (a, b)
