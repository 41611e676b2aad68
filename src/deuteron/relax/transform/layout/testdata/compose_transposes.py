# run: ComposeTransposes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, "h", 5), "float32"), y: R.Tensor("float32"), t: R.Tensor((2, 49, 32), "float32"), q: R.Tensor((2, "rows", "cols", 32), "float32")):
        with R.dataflow():
            # There and back: x.
            a = R.permute_dims(x, axes=[0, 2, 3, 1])
            b = R.permute_dims(a, axes=[0, 3, 1, 2])
            c = R.exp(b)
            # One of three, and the first is used besides.
            d = R.permute_dims(c, axes=[1, 0, 2, 3])
            e = R.permute_dims(d, axes=[0, 1, -1, 2])
            f = R.permute_dims(e)
            g = R.tanh(d)
            # An axis moved onto itself.
            h = R.permute_dims(g, axes=[0, 1, 2, 3])
            # There and back, and seen from outside.
            i = R.permute_dims(h, axes=[3, 2, 1, 0])
            j = R.permute_dims(i)
            # Of unknown rank.
            k = R.permute_dims(y)
            l = R.permute_dims(k)
            # Tokens that become an image, and pixels that become tokens: of known and of open sizes.
            m = R.reshape(R.permute_dims(t, axes=[0, 2, 1]), R.shape([2, 32, 7, 7]))
            o = R.permute_dims(m, axes=[0, 2, 3, 1])
            p = R.reshape(R.permute_dims(q, axes=[0, 3, 1, 2]), R.shape([2, 32, rows * cols]))
            r = R.permute_dims(p, axes=[0, 2, 1])
            # Pixels in another order, and heads that the axes are split into.
            s = R.permute_dims(m, axes=[0, 3, 2, 1])
            v = R.permute_dims(R.reshape(R.permute_dims(t, axes=[0, 2, 1]), R.shape([2, 4, 8, 49])), axes=[0, 3, 2, 1])
            w = R.permute_dims(R.reshape(R.permute_dims(t, axes=[0, 2, 1]), R.shape([2, 4, 8, 49])), axes=[0, 3, 1, 2])
            R.output(f, j, l, o, r, s, v, w)
        return (f, j, l, o, r, s, v, w)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

h = TypeVar("h")
rows = TypeVar("rows")
cols = TypeVar("cols")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, h, 5), dtype="float32"), y: R.Tensor(dtype="float32"), t: R.Tensor((2, 49, 32), dtype="float32"), q: R.Tensor((2, rows, cols, 32), dtype="float32")) -> R.Tuple(R.Tensor((h, 5, 2, 3), dtype="float32"), R.Tensor((3, 2, h, 5), dtype="float32"), R.Tensor(dtype="float32"), R.Tensor((2, 7, 7, 32), dtype="float32"), R.Tensor((2, "rows * cols", 32), dtype="float32"), R.Tensor((2, 7, 7, 32), dtype="float32"), R.Tensor((2, 49, 8, 4), dtype="float32"), R.Tensor((2, 49, 4, 8), dtype="float32")):
        with R.dataflow():
            c: R.Tensor((2, 3, h, 5), dtype="float32") = R.exp(x)
            d: R.Tensor((3, 2, h, 5), dtype="float32") = R.permute_dims(c, axes=[1, 0, 2, 3])
            f: R.Tensor((h, 5, 2, 3), dtype="float32") = R.permute_dims(c, axes=[2, 3, 0, 1])
            g: R.Tensor((3, 2, h, 5), dtype="float32") = R.tanh(d)
            j: R.Tensor((3, 2, h, 5), dtype="float32") = g
            k: R.Tensor(dtype="float32") = R.permute_dims(y, axes=None)
            l: R.Tensor(dtype="float32") = R.permute_dims(k, axes=None)
            lv: R.Tensor((2, 32, 49), dtype="float32") = R.permute_dims(t, axes=[0, 2, 1])
            m: R.Tensor((2, 32, 7, 7), dtype="float32") = R.reshape(lv, R.shape([2, 32, 7, 7]))
            o: R.Tensor((2, 7, 7, 32), dtype="float32") = R.reshape(t, R.shape([2, 7, 7, 32]))
            r: R.Tensor((2, rows * cols, 32), dtype="float32") = R.reshape(q, R.shape([2, rows * cols, 32]))
            s: R.Tensor((2, 7, 7, 32), dtype="float32") = R.permute_dims(m, axes=[0, 3, 2, 1])
            lv2: R.Tensor((2, 32, 49), dtype="float32") = R.permute_dims(t, axes=[0, 2, 1])
            lv3: R.Tensor((2, 4, 8, 49), dtype="float32") = R.reshape(lv2, R.shape([2, 4, 8, 49]))
            v: R.Tensor((2, 49, 8, 4), dtype="float32") = R.permute_dims(lv3, axes=[0, 3, 2, 1])
            w: R.Tensor((2, 49, 4, 8), dtype="float32") = R.reshape(t, R.shape([2, 49, 4, 8]))
            R.output(f, j, l, o, r, s, v, w)
        return (f, j, l, o, r, s, v, w)
