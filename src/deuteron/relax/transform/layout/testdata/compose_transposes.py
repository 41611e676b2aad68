# run: ComposeTransposes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, "h", 5), "float32"), y: R.Tensor("float32")):
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
            R.output(f, j, l)
        return (f, j, l)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

h = TypeVar("h")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, h, 5), dtype="float32"), y: R.Tensor(dtype="float32")) -> R.Tuple(R.Tensor((h, 5, 2, 3), dtype="float32"), R.Tensor((3, 2, h, 5), dtype="float32"), R.Tensor(dtype="float32")):
        with R.dataflow():
            c: R.Tensor((2, 3, h, 5), dtype="float32") = R.exp(x)
            d: R.Tensor((3, 2, h, 5), dtype="float32") = R.permute_dims(c, axes=[1, 0, 2, 3])
            f: R.Tensor((h, 5, 2, 3), dtype="float32") = R.permute_dims(c, axes=[2, 3, 0, 1])
            g: R.Tensor((3, 2, h, 5), dtype="float32") = R.tanh(d)
            j: R.Tensor((3, 2, h, 5), dtype="float32") = g
            k: R.Tensor(dtype="float32") = R.permute_dims(y, axes=None)
            l: R.Tensor(dtype="float32") = R.permute_dims(k, axes=None)
            R.output(f, j, l)
        return (f, j, l)
