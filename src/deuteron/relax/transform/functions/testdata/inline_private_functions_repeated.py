# run: InlinePrivateFunctions
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        a = cls.f(x, c)
        b: R.Tensor(ndim=2) = cls.f(a, c)
        return b
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2, 3), "float32"):
        if c:
            a = R.add(y, y)
        else:
            a = R.multiply(y, y)
        return a
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        if c:
            a_then: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
            a: R.Tensor((2, 3), dtype="float32") = a_then
        else:
            a_else: R.Tensor((2, 3), dtype="float32") = R.multiply(x, x)
            a: R.Tensor((2, 3), dtype="float32") = a_else
        if c:
            a_then: R.Tensor((2, 3), dtype="float32") = R.add(a, a)
            a_1: R.Tensor((2, 3), dtype="float32") = a_then
        else:
            a_else: R.Tensor((2, 3), dtype="float32") = R.multiply(a, a)
            a_1: R.Tensor((2, 3), dtype="float32") = a_else
        return a_1
