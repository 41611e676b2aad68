# run: CanonicalizeBindings
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(ndim=2, dtype="float32")):
        n = T.int64()
        m = T.int64()
        same = R.match_cast(x, R.Tensor((n, 3), "float32"))
        narrower = R.match_cast(y, R.Tensor((m, 3), "float32"))
        a = R.exp(same)
        b = R.exp(narrower)
        return (a, b)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 3), dtype="float32"), y: R.Tensor(dtype="float32", ndim=2)) -> R.Tuple(R.Tensor((n, 3), dtype="float32"), R.Tensor(dtype="float32", ndim=2)):
        m = T.int64()
        narrower: R.Tensor((m, 3), dtype="float32") = R.match_cast(y, R.Tensor((m, 3), dtype="float32"))
        a: R.Tensor((n, 3), dtype="float32") = R.exp(x)
        b: R.Tensor((m, 3), dtype="float32") = R.exp(narrower)
        return (a, b)
