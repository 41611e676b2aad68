# run: RemoveUnusedParameters
@I.ir_module
class Module:
    @R.function
    def public(x: R.Tensor((2, 3), "float32"), unused: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        z = R.exp(x)
        return z

    @R.function(private=True)
    def value(x: R.Tensor((2, 3), "float32"), unused: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        z = R.exp(x)
        return z

    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = Module
        f = cls.value
        a = f(x, x)
        b = cls.public(a, x)
        return b
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def public(x: R.Tensor((2, 3), dtype="float32"), unused: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        z: R.Tensor((2, 3), dtype="float32") = R.exp(x)
        return z

    @R.function(private=True)
    def value(x: R.Tensor((2, 3), dtype="float32"), unused: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        z: R.Tensor((2, 3), dtype="float32") = R.exp(x)
        return z

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        f: R.Callable((R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")), R.Tensor((2, 3), dtype="float32"), True) = cls.value
        a: R.Tensor((2, 3), dtype="float32") = f(x, x)
        b: R.Tensor((2, 3), dtype="float32") = cls.public(a, x)
        return b
