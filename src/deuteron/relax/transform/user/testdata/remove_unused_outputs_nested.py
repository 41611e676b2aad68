# run: RemoveUnusedOutputs
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        a = cls.f(x)
        b = a[1]
        return b
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        cls = Module
        c = cls.g(y)
        d = c[1]
        return (c[0], d)
    @R.function(private=True)
    def g(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        return (y, R.exp(y))
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        c: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = cls.g(y)
        d: R.Tensor((2, 3), dtype="float32") = c[1]
        return d

    @R.function(private=True)
    def g(y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        gv: R.Tensor((2, 3), dtype="float32") = R.exp(y)
        return (y, gv)

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        a: R.Tensor((2, 3), dtype="float32") = cls.f(x)
        return a
