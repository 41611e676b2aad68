# run: InlinePrivateFunctions
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        with R.dataflow():
            a = cls.f(x, c)
            R.output(a)
        return a
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        if c:
            a = R.add(y, y)
        else:
            a = R.multiply(y, y)
        return (a, y)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        if c:
            a_then: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
            a: R.Tensor((2, 3), dtype="float32") = a_then
        else:
            a_else: R.Tensor((2, 3), dtype="float32") = R.multiply(x, x)
            a: R.Tensor((2, 3), dtype="float32") = a_else
        with R.dataflow():
            a_1: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = a, x
            R.output(a_1)
        return a_1
