# run: DeadCodeElimination
# External functions stay, whoever needs them.
@I.ir_module
class Module:
    used = R.ExternFunc("symbol")
    other = R.ExternFunc("other_symbol")

    @R.function(private=True)
    def unused(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        return x

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        y = R.call_pure_packed(cls.used, x, ty_args=(R.Tensor((4,), dtype="float32"),))
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    other = R.ExternFunc("other_symbol")

    used = R.ExternFunc("symbol")

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        y: R.Tensor((4,), dtype="float32") = R.call_pure_packed(cls.used, x, ty_args=(R.Tensor((4,), dtype="float32"),))
        return y
