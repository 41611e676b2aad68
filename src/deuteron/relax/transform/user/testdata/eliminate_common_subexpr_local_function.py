# run: EliminateCommonSubexpr
# A local function is a scope of its own; equal ones become one.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            a = R.add(z, x)
            b = R.add(z, x)
            c = R.add(y, x)
            d = R.add(b, c)
            return d
        @R.function
        def inner2(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            a = R.add(z, x)
            b = R.add(z, x)
            c = R.add(y, x)
            d = R.add(b, c)
            return d
        w = R.add(y, x)
        e = inner(x)
        f = inner(x)
        g = inner2(x)
        return (e, f, g, w)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        @R.function
        def inner(z: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
            a: R.Tensor((2, 3), dtype="float32") = R.add(z, x)
            b: R.Tensor((2, 3), dtype="float32") = a
            c: R.Tensor((2, 3), dtype="float32") = R.add(y, x)
            d: R.Tensor((2, 3), dtype="float32") = R.add(a, c)
            return d

        inner2: R.Callable((R.Tensor((2, 3), dtype="float32"),), R.Tensor((2, 3), dtype="float32"), True) = inner
        w: R.Tensor((2, 3), dtype="float32") = R.add(y, x)
        e: R.Tensor((2, 3), dtype="float32") = inner(x)
        f: R.Tensor((2, 3), dtype="float32") = e
        g: R.Tensor((2, 3), dtype="float32") = e
        return (e, e, e, w)
