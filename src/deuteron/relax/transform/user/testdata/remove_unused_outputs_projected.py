# run: RemoveUnusedOutputs
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        a = cls.f(x)
        b = a[0]
        return b
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((1, 3), "float32"), R.Tensor((1, 3), "float32")):
        c = R.split(y, 2, axis=0)
        return c
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((1, 3), dtype="float32"):
        c: R.Tuple(R.Tensor((1, 3), dtype="float32"), R.Tensor((1, 3), dtype="float32")) = R.split(y, indices_or_sections=2, axis=0)
        gv: R.Tensor((1, 3), dtype="float32") = c[0]
        return gv

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((1, 3), dtype="float32"):
        cls = Module
        a: R.Tensor((1, 3), dtype="float32") = cls.f(x)
        return a
