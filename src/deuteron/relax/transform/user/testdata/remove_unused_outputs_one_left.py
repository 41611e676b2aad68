# run: RemoveUnusedOutputs
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.f(x)
            b = a[0]
            d = R.exp(b)
            R.output(d)
        return d
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.multiply(y, y)
            b = R.add(y, y)
            c = R.exp(b)
            R.output(a, c)
        return (a, c)
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
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32") = R.multiply(y, y)
            R.output(a)
        return a

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32") = cls.f(x)
            d: R.Tensor((2, 3), dtype="float32") = R.exp(a)
            R.output(d)
        return d
