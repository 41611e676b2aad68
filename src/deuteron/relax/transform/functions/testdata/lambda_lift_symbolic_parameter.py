# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        @R.function
        def inner(z: R.Tensor((n, 3), "float32")) -> R.Tensor((n, 3), "float32"):
            d = R.add(z, R.zeros(R.shape([n, 3]), "float32"))
            return d
        e = inner(x)
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
    def main_inner(z: R.Tensor((n, 3), dtype="float32")) -> R.Tensor((n, 3), dtype="float32"):
        gv: R.Tensor((n, 3), dtype="float32") = R.zeros(R.shape([n, 3]), dtype="float32")
        d: R.Tensor((n, 3), dtype="float32") = R.add(z, gv)
        return d

    @R.function
    def main(x: R.Tensor((n, 3), dtype="float32"), y: R.Tensor((n, 3), dtype="float32")) -> R.Tensor((n, 3), dtype="float32"):
        cls = Module
        e: R.Tensor((n, 3), dtype="float32") = cls.main_inner(x)
        return e
