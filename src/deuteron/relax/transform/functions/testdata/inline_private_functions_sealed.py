# run: InlinePrivateFunctions
# Functions made for kernels are not opened.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        if c:
            a = cls.f(x)
        else:
            a = cls.f(cls.f(x))
        return a
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        R.func_attr({"Primitive": True})
        a = R.add(y, y)
        return a
    @R.function(private=True)
    def unused(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        a = R.add(y, y)
        return a
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
        R.func_attr({"Primitive": True})
        a: R.Tensor((2, 3), dtype="float32") = R.add(y, y)
        return a

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        if c:
            a_then: R.Tensor((2, 3), dtype="float32") = cls.f(x)
            a: R.Tensor((2, 3), dtype="float32") = a_then
        else:
            gv: R.Tensor((2, 3), dtype="float32") = cls.f(x)
            a_else: R.Tensor((2, 3), dtype="float32") = cls.f(gv)
            a: R.Tensor((2, 3), dtype="float32") = a_else
        return a
