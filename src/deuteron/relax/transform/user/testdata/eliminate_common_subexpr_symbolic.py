# run: EliminateCommonSubexpr
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor((2, 3), "float32")):
        n = T.int64()
        m = T.int64()
        a = R.match_cast(x, R.Tensor((n, 3), "float32"))
        b = R.match_cast(x, R.Tensor((m, 3), "float32"))
        c = R.add(a, x)
        d = R.add(b, x)
        e = R.full(R.shape([n * 2]), R.const(1.0, "float32"), dtype="float32")
        f = R.full(R.shape([n * 2]), R.const(1.0, "float32"), dtype="float32")
        h = R.full(R.shape([n + n]), R.const(1.0, "float32"), dtype="float32")
        return (c, d, e, f, h)
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
    def main(x: R.Tensor((n, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((n, 3), dtype="float32"), R.Tensor(dtype="float32", ndim=2), R.Tensor(("n * 2",), dtype="float32"), R.Tensor(("n * 2",), dtype="float32"), R.Tensor(("n + n",), dtype="float32")):
        m = T.int64()
        a: R.Tensor((n, 3), dtype="float32") = R.match_cast(x, R.Tensor((n, 3), dtype="float32"))
        b: R.Tensor((m, 3), dtype="float32") = R.match_cast(x, R.Tensor((m, 3), dtype="float32"))
        c: R.Tensor((n, 3), dtype="float32") = R.add(a, x)
        d: R.Tensor(dtype="float32", ndim=2) = R.add(b, x)
        e: R.Tensor((n * 2,), dtype="float32") = R.full(R.shape([n * 2]), R.const(1.0, "float32"), dtype="float32")
        f: R.Tensor((n * 2,), dtype="float32") = e
        h: R.Tensor((n + n,), dtype="float32") = R.full(R.shape([n + n]), R.const(1.0, "float32"), dtype="float32")
        return (c, d, e, e, h)
