# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function(pure=False)
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Tuple():
            R.func_attr({"a": 1})
            d = R.print(x, format="{}")
            return d
        @R.function
        def inner2(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            return z
        e = inner2(x)
        return (e, inner)
    @R.function
    def other(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            d = R.add(z, z)
            return d
        t = inner
        u = t(x)
        return u
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False, private=True)
    def main_inner(z: R.Tensor((2, 3), dtype="float32"), x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple:
        R.func_attr({"a": 1})
        d: R.Tuple = R.print(x, format=R.str("{}"))
        return d

    @R.function(private=True)
    def main_inner2(z: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        return z

    @R.function
    def other(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        t: R.Callable((R.Tensor((2, 3), dtype="float32"),), R.Tensor((2, 3), dtype="float32"), True) = cls.other_inner
        u: R.Tensor((2, 3), dtype="float32") = t(x)
        return u

    @R.function(private=True)
    def other_inner(z: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        d: R.Tensor((2, 3), dtype="float32") = R.add(z, z)
        return d

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Any):
        cls = Module
        inner: R.Any = R.make_closure(cls.main_inner, (x,))
        e: R.Tensor((2, 3), dtype="float32") = cls.main_inner2(x)
        return (e, inner)
