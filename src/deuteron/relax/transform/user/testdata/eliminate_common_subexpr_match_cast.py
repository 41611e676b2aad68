# run: EliminateCommonSubexpr
# A match_cast to another type is another value.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("m", 3), "float32")):
        n = T.int64()
        m = T.int64()
        a = R.match_cast(y, R.Tensor((n, 3), "float32"))
        b = R.match_cast(y, R.Tensor((n, 3), "float32"))
        d = R.match_cast(y, R.Tensor((m, 3), "float32"))
        e = R.add(x, a)
        f = R.add(x, b)
        return (e, f, d)
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
    @R.function
    def main(x: R.Tensor((n, 3), dtype="float32"), y: R.Tensor((m, 3), dtype="float32")) -> R.Tuple(R.Tensor((n, 3), dtype="float32"), R.Tensor((n, 3), dtype="float32"), R.Tensor((m, 3), dtype="float32")):
        a: R.Tensor((n, 3), dtype="float32") = R.match_cast(y, R.Tensor((n, 3), dtype="float32"))
        b: R.Tensor((n, 3), dtype="float32") = a
        d: R.Tensor((m, 3), dtype="float32") = R.match_cast(y, R.Tensor((m, 3), dtype="float32"))
        e: R.Tensor((n, 3), dtype="float32") = R.add(x, a)
        f: R.Tensor((n, 3), dtype="float32") = e
        return (e, e, d)
