# run: RemoveUnusedParameters
@I.ir_module
class Module:
    @R.function(private=True)
    def helper(x: R.Tensor((2, 3), "float32"), unused: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        z = R.add(x, y)
        return z

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = Module
        a = R.exp(y)
        b = cls.helper(x, a, y)
        return b
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def helper(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        z: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
        return z

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        b: R.Tensor((2, 3), dtype="float32") = cls.helper(x, y)
        return b
