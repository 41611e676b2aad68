# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32")):
            @R.function
            def inner2(w: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
                d = R.add(z, w)
                return d
            return inner2
        f = inner(x)
        g = f(y)
        return g
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def main_inner(z: R.Tensor((2, 3), dtype="float32")) -> R.Any:
        cls = Module
        inner2: R.Any = R.make_closure(cls.main_inner2, (z,))
        return inner2

    @R.function(private=True)
    def main_inner2(w: R.Tensor((2, 3), dtype="float32"), z: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        d: R.Tensor((2, 3), dtype="float32") = R.add(z, w)
        return d

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        f: R.Any = cls.main_inner(x)
        g: R.Tensor((2, 3), dtype="float32") = R.invoke_pure_closure(f, (y,), ty_args=(R.Tensor((2, 3), dtype="float32"),))
        return g
