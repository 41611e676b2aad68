# run: LambdaLift
# config: tvm_compat=true
# Under tvm_compat what is captured makes a closure.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            d = R.add(z, x)
            e = R.add(d, y)
            return e
        e = inner(x)
        f = inner(y)
        return (e, f)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def main_inner(z: R.Tensor((2, 3), dtype="float32"), x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        d: R.Tensor((2, 3), dtype="float32") = R.add(z, x)
        e: R.Tensor((2, 3), dtype="float32") = R.add(d, y)
        return e

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        cls = Module
        inner: R.Any = R.make_closure(cls.main_inner, (x, y))
        e: R.Tensor((2, 3), dtype="float32") = R.invoke_pure_closure(inner, (x,), ty_args=(R.Tensor((2, 3), dtype="float32"),))
        f: R.Tensor((2, 3), dtype="float32") = R.invoke_pure_closure(inner, (y,), ty_args=(R.Tensor((2, 3), dtype="float32"),))
        return (e, f)
