# run: RemoveUnusedOutputs
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        a = cls.f(x)
        if c:
            r = a[1]
        else:
            r = x
        q = cls.g(x)
        z = cls.h(x)
        z0 = z[0]
        return (r, z0)
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
    @R.function(private=True)
    def h(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32"))):
        a = R.multiply(y, y)
        b = R.add(y, y)
        c = R.split(y, 2, axis=0)
        d = (a, (a, b))
        return d
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
        b: R.Tensor((2, 3), dtype="float32") = R.add(y, y)
        return b

    @R.function(private=True)
    def h(y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        a: R.Tensor((2, 3), dtype="float32") = R.multiply(y, y)
        return a

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        cls = Module
        a: R.Tensor((2, 3), dtype="float32") = cls.f(x)
        if c:
            r: R.Tensor((2, 3), dtype="float32") = a
        else:
            r: R.Tensor((2, 3), dtype="float32") = x
        z: R.Tensor((2, 3), dtype="float32") = cls.h(x)
        return (r, z)
