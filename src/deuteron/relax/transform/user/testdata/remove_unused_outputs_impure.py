# run: RemoveUnusedOutputs
# The call stays for what it does, and returns nothing.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        cls = Module
        a = cls.f(x)
        return x
    @R.function(private=True, pure=False)
    def f(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        a = R.exp(y)
        b = R.print(a, format="{}")
        return (a, y)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False, private=True)
    def f(y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple:
        a: R.Tensor((2, 3), dtype="float32") = R.exp(y)
        b: R.Tuple = R.print(a, format=R.str("{}"))
        return R.tuple()

    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        a: R.Tuple = cls.f(x)
        return x
