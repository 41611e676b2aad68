# run: CanonicalizeBindings
# A symbol that a match_cast defines where the extent is known is that extent; one of an unknown extent stays.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 16), dtype="float32"), y: R.Tensor(dtype="float32")) -> R.Shape(ndim=2):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        with R.dataflow():
            a = R.match_cast(x, R.Tensor((m, 16), dtype="float32"))
            b: R.Tensor((m, 16), dtype="float32") = R.exp(a)
            c = R.match_cast(y, R.Tensor((k, 16), dtype="float32"))
            s: R.Shape([m * 2, k]) = R.shape([m * 2, k])
            t = (b, c)
            gv: R.Tensor((m, 16), dtype="float32") = t[0]
            R.output(s, gv)
        return s
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
    def main(x: R.Tensor((n, 16), dtype="float32"), y: R.Tensor(dtype="float32")) -> R.Shape(ndim=2):
        k = T.int64()
        with R.dataflow():
            gv: R.Tensor((n, 16), dtype="float32") = R.exp(x)
            c: R.Tensor((k, 16), dtype="float32") = R.match_cast(y, R.Tensor((k, 16), dtype="float32"))
            s: R.Shape([n * 2, k]) = R.shape([n * 2, k])
            t: R.Tuple(R.Tensor((n, 16), dtype="float32"), R.Tensor((k, 16), dtype="float32")) = gv, c
            R.output(s)
        return s
