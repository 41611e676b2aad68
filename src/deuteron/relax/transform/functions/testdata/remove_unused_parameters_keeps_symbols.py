# run: RemoveUnusedParameters
@I.ir_module
class Module:
    @R.function(private=True)
    def helper(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("m",), "float32")) -> R.Tensor(("m", "n"), "float32"):
        n = T.int64()
        m = T.int64()
        z = R.zeros(R.shape([m, n]), dtype="float32")
        return z

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4, 2), "float32"):
        cls = Module
        b = cls.helper(x, y)
        return b
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function(private=True)
    def helper(param_n: R.Shape([n]), param_m: R.Shape([m])) -> R.Tensor((m, n), dtype="float32"):
        z: R.Tensor((m, n), dtype="float32") = R.zeros(R.shape([m, n]), dtype="float32")
        return z

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((4,), dtype="float32")) -> R.Tensor((4, 2), dtype="float32"):
        cls = Module
        b: R.Tensor((4, 2), dtype="float32") = cls.helper(R.shape([2]), R.shape([4]))
        return b
