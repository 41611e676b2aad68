# run: InlinePrivateFunctions
# Arguments whose types do not show that they fit are checked.
@I.ir_module
class Module:
    @R.function(private=True)
    def four(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.exp(x)
        return y
    @R.function(private=True)
    def unused(x: R.Tensor(("n", "m"), "float32"), un: R.Tensor(("m", "k"), "float32")) -> R.Tensor(("n", "2 * m"), "float32"):
        n = T.int64()
        m = T.int64()
        y = R.concat([x, x], axis=1)
        return y
    @R.function(private=True)
    def symbol(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        y = R.zeros(R.shape([n]), "float32")
        return y
    @R.function
    def main(x: R.Tensor(("a", 4), "float32"), w: R.Tensor(("b", "c"), "float32"), v: R.Tensor(ndim=1, dtype="float32")):
        cls = Module
        p = cls.four(v)
        q = cls.unused(x, w)
        r = cls.symbol(v)
        return (p, q, r)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

a = TypeVar("a")
b = TypeVar("b")
c = TypeVar("c")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((a, 4), dtype="float32"), w: R.Tensor((b, c), dtype="float32"), v: R.Tensor(dtype="float32", ndim=1)) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((a, 8), dtype="float32"), R.Tensor(dtype="float32", ndim=1)):
        n = T.int64()
        x_1: R.Tensor((4,), dtype="float32") = R.match_cast(v, R.Tensor((4,), dtype="float32"))
        y: R.Tensor((4,), dtype="float32") = R.exp(x_1)
        un: R.Tensor((4, c), dtype="float32") = R.match_cast(w, R.Tensor((4, c), dtype="float32"))
        y_1: R.Tensor((a, 8), dtype="float32") = R.concat((x, x), axis=1)
        x_2: R.Tensor((n,), dtype="float32") = R.match_cast(v, R.Tensor((n,), dtype="float32"))
        y_2: R.Tensor((n,), dtype="float32") = R.zeros(R.shape([n]), dtype="float32")
        return (y, y_1, y_2)
