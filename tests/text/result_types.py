# run:
# The deduced type of a result names no symbol that only the body defines.
@I.ir_module
class Module:
    @R.function
    def cast(x: R.Tensor(ndim=1, dtype="float32"), s: R.Shape(["n"])):
        n = T.int64()
        m = T.int64()
        z = R.match_cast(x, R.Tensor((m,), "float32"))
        y = R.add(z, z)
        return (y, s, R.shape([m]))

    @R.function
    def main(x: R.Tensor(("k",), dtype="float32"), b: R.Tensor((), "bool")):
        m = T.int64()
        u = R.match_cast(x, R.Tensor((m,), "float32"))

        @R.function
        def inner(a: R.Tensor(("q",), "float32"), b: R.Tensor(ndim=1, dtype="float32")):
            q = T.int64()
            r = T.int64()
            c = R.match_cast(b, R.Tensor((r,), "float32"))
            return (a, c, u)

        if b:
            v = R.add(u, u)
        else:
            v = R.exp(u)
        return (inner(v, x), v, x)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
k = TypeVar("k")
@I.ir_module
class Module:
    @R.function
    def cast(x: R.Tensor(dtype="float32", ndim=1), s: R.Shape([n])) -> R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Shape([n]), R.Shape(ndim=1)):
        m = T.int64()
        z: R.Tensor((m,), dtype="float32") = R.match_cast(x, R.Tensor((m,), dtype="float32"))
        y: R.Tensor((m,), dtype="float32") = R.add(z, z)
        return (y, s, R.shape([m]))

    @R.function
    def main(x: R.Tensor((k,), dtype="float32"), b: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor(dtype="float32", ndim=1), R.Tensor(dtype="float32", ndim=1)), R.Tensor(dtype="float32", ndim=1), R.Tensor((k,), dtype="float32")):
        m = T.int64()
        u: R.Tensor((m,), dtype="float32") = R.match_cast(x, R.Tensor((m,), dtype="float32"))
        q = TypeVar("q")
        @R.function
        def inner(a: R.Tensor((q,), dtype="float32"), b_1: R.Tensor(dtype="float32", ndim=1)) -> R.Tuple(R.Tensor((q,), dtype="float32"), R.Tensor(dtype="float32", ndim=1), R.Tensor(dtype="float32", ndim=1)):
            r = T.int64()
            c: R.Tensor((r,), dtype="float32") = R.match_cast(b_1, R.Tensor((r,), dtype="float32"))
            return (a, c, u)

        if b:
            v_then: R.Tensor((m,), dtype="float32") = R.add(u, u)
            v: R.Tensor((m,), dtype="float32") = v_then
        else:
            v_else: R.Tensor((m,), dtype="float32") = R.exp(u)
            v: R.Tensor((m,), dtype="float32") = v_else
        gv: R.Tuple(R.Tensor((m,), dtype="float32"), R.Tensor(dtype="float32", ndim=1), R.Tensor(dtype="float32", ndim=1)) = inner(v, x)
        return (gv, v, x)
