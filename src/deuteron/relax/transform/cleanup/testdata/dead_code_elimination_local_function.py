# run: DeadCodeElimination
# A local function that nothing calls goes, and what only it uses.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.exp(x)
        b = R.tanh(x)
        @R.function
        def dead(p: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            q = R.add(p, a)
            return q
        @R.function
        def used(p: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            q = R.add(p, b)
            return q
        c = used(x)
        return c
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        b: R.Tensor((4,), dtype="float32") = R.tanh(x)
        @R.function
        def used(p: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            q: R.Tensor((4,), dtype="float32") = R.add(p, b)
            return q

        c: R.Tensor((4,), dtype="float32") = used(x)
        return c
