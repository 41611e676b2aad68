# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        @R.function
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            d = R.add(z, z)
            return d
        @R.function
        def inner2(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            d = R.add(z, inner(x))
            return d
        if c:
            @R.function
            def inner3(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
                d = R.add(z, inner2(x))
                return d
            r = inner3(x)
        else:
            r = inner2(y)
        return r
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def main_inner(z: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        d: R.Tensor((2, 3), dtype="float32") = R.add(z, z)
        return d

    @R.function(private=True)
    def main_inner2(z: R.Tensor((2, 3), dtype="float32"), x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        gv: R.Tensor((2, 3), dtype="float32") = cls.main_inner(x)
        d: R.Tensor((2, 3), dtype="float32") = R.add(z, gv)
        return d

    @R.function(private=True)
    def main_inner3(z: R.Tensor((2, 3), dtype="float32"), x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        gv1: R.Tensor((2, 3), dtype="float32") = cls.main_inner2(x, x)
        d: R.Tensor((2, 3), dtype="float32") = R.add(z, gv1)
        return d

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        if c:
            r_then: R.Tensor((2, 3), dtype="float32") = cls.main_inner3(x, x)
            r: R.Tensor((2, 3), dtype="float32") = r_then
        else:
            r_else: R.Tensor((2, 3), dtype="float32") = cls.main_inner2(y, x)
            r: R.Tensor((2, 3), dtype="float32") = r_else
        return r
