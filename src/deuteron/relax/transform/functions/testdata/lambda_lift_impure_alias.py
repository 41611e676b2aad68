# run: LambdaLift
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function(pure=False)
        def inner(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            d = R.print(y, format="{}")
            return z
        f = inner
        a = f(x)
        return a
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False, private=True)
    def main_inner(z: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        d: R.Tuple = R.print(y, format=R.str("{}"))
        return z

    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        inner: R.Any = R.make_closure(cls.main_inner, (y,))
        f: R.Any = inner
        a: R.Tensor((2, 3), dtype="float32") = R.invoke_closure(f, (x,), ty_args=(R.Tensor((2, 3), dtype="float32"),))
        return a
