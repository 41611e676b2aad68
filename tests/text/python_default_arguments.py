# run:
# Arguments that Python's functions have defaults for.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), p: R.Tensor((2, 3), "float32"), t: R.Tensor((2,), "int64"), q: R.Tensor((1, 8, 2, 4), "float32")):
        a = R.tril(x)
        b = R.triu(x)
        c = R.unique(x)
        d = R.strided_slice(x, (0,), (1,), (3,))
        e = R.eye_like(x)
        f = R.nn.nll_loss(p, t)
        g = R.nn.attention(q, q, q)
        h = R.arange(3)
        i = R.arange(0.0, 1.0, 0.25)
        j = R.eye(3)
        k = R.arange(1, 5)
        l = R.eye(3, 4)
        m = R.arange(3, dtype="float16")
        return (a, b, d, e, f, g, h, i, j, k, l, m)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), p: R.Tensor((2, 3), dtype="float32"), t: R.Tensor((2,), dtype="int64"), q: R.Tensor((1, 8, 2, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"), R.Tensor((2, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"), R.Tensor((), dtype="float32"), R.Tensor((1, 8, 2, 4), dtype="float32"), R.Tensor((3,), dtype="int64"), R.Tensor((4,), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((4,), dtype="int64"), R.Tensor((3, 4), dtype="float32"), R.Tensor((3,), dtype="float16")):
        a: R.Tensor((4, 4), dtype="float32") = R.tril(x, 0)
        b: R.Tensor((4, 4), dtype="float32") = R.triu(x, 0)
        c: R.Tensor(dtype="float32", ndim=1) = R.unique(x, T.bool(True), T.bool(False), T.bool(False), T.bool(False))
        d: R.Tensor((2, 4), dtype="float32") = R.strided_slice(x, (0,), (1,), (3,), assume_inbound=False)
        e: R.Tensor((4, 4), dtype="float32") = R.eye_like(x, 0, dtype=None)
        f: R.Tensor((), dtype="float32") = R.nn.nll_loss(p, t, reduction="mean", ignore_index=-100)
        g: R.Tensor((1, 8, 2, 4), dtype="float32") = R.nn.attention(q, q, q, scale=None, causal_mask=None, window_size=None)
        h: R.Tensor((3,), dtype="int64") = R.arange(0, 3, 1, dtype="int64")
        i: R.Tensor((4,), dtype="float32") = R.arange(T.float64(0.0), T.float64(1.0), T.float64(0.25), dtype="float32")
        j: R.Tensor((3, 3), dtype="float32") = R.eye(3, 3, 0, dtype="float32")
        k: R.Tensor((4,), dtype="int64") = R.arange(1, 5, 1, dtype="int64")
        l: R.Tensor((3, 4), dtype="float32") = R.eye(3, 4, 0, dtype="float32")
        m: R.Tensor((3,), dtype="float16") = R.arange(0, 3, 1, dtype="float16")
        return (a, b, d, e, f, g, h, i, j, k, l, m)
