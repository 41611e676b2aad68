# run: CanonicalizeBindings
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = a
            unused = R.tanh(x)
            inner = R.add(unused, a)
            R.output(b, unused, inner)
        c = inner
        d = R.add(b, c)
        return d
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            b: R.Tensor((2, 3), dtype="float32") = R.exp(x)
            unused: R.Tensor((2, 3), dtype="float32") = R.tanh(x)
            inner: R.Tensor((2, 3), dtype="float32") = R.add(unused, b)
            R.output(b, inner)
        d: R.Tensor((2, 3), dtype="float32") = R.add(b, inner)
        return d
