# run: InlinePrivateFunctions
# A result that nobody takes gives no name to what computes it.
@I.ir_module
class Module:
    @R.function(private=True)
    def both(p: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.nn.relu(p)
            b = R.negative(a)
            c = (a, b)
            R.output(c)
        return c

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        t = cls.both(x)
        unused = t[0]
        y = t[1]
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.nn.relu(x)
            y: R.Tensor((4,), dtype="float32") = R.negative(a)
            R.output(y)
        return y
