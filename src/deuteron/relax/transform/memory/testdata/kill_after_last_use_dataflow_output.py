# run: KillAfterLastUse
# An output that is a name of a local variable of its block keeps its name, and the value is bound to it.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            b = a
            local = b
            other = local
            c = R.exp(local)
            R.output(c, b, other)
        d = b
        return (d, c, other)

    @R.function
    def wider(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            b: R.Tensor(ndim=2, dtype="float32") = a
            c = R.exp(a)
            R.output(c, b)
        return (b, c)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def wider(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32") = R.nn.relu(x)
            b: R.Tensor(dtype="float32", ndim=2) = a
            c: R.Tensor((2, 3), dtype="float32") = R.exp(a)
            R.output(b, c)
        return (b, c)

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            b: R.Tensor((2, 3), dtype="float32") = R.nn.relu(x)
            c: R.Tensor((2, 3), dtype="float32") = R.exp(b)
            R.output(b, c)
        return (b, c, b)
