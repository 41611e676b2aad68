# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            d = R.add(y, z)
            return d
        @R.function
        def inner2(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            d = inner(z)
            e = R.add(d, x)
            return e
        a = inner2(x)
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
    def main_inner(z: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        d: R.Tensor((2, 3), dtype="float32") = R.add(y, z)
        return d

    @R.function(private=True)
    def main_inner2(z: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32"), x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        d: R.Tensor((2, 3), dtype="float32") = cls.main_inner(z, y)
        e: R.Tensor((2, 3), dtype="float32") = R.add(d, x)
        return e

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        a: R.Tensor((2, 3), dtype="float32") = cls.main_inner2(x, y, x)
        return a
