# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor((3,), "float32")):
        n = T.int64()
        @R.function
        def inner(z: R.Tensor((3,), "float32")) -> R.Tensor((n, 3), "float32"):
            d = R.broadcast_to(z, R.shape([n, 3]))
            return d
        e = inner(y)
        return e
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(private=True)
    def main_inner(z: R.Tensor((3,), dtype="float32"), symbols: R.Shape([n])) -> R.Tensor((n, 3), dtype="float32"):
        d: R.Tensor((n, 3), dtype="float32") = R.broadcast_to(z, R.shape([n, 3]))
        return d

    @R.function
    def main(x: R.Tensor((n, 3), dtype="float32"), y: R.Tensor((3,), dtype="float32")) -> R.Tensor((n, 3), dtype="float32"):
        cls = Module
        e: R.Tensor((n, 3), dtype="float32") = cls.main_inner(y, R.shape([n]))
        return e
