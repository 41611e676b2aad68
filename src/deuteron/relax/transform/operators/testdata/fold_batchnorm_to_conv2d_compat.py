# run: FoldBatchnormToConv2D
# config: tvm_compat=true
# TVM tidies up a function with a block that is no dataflow block, and leaves the others alone if there is nothing to fold.
@I.ir_module
class Module:
    @R.function
    def plain(x: R.Tensor((2, 3), "float32")):
        unused = R.exp(x)
        a = R.nn.relu(x)
        b = (a, x)
        c = b[0]
        return c

    @R.function
    def dataflow(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            unused = R.exp(x)
            b = (x, x)
            c = b[0]
            R.output(c)
        return c
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def dataflow(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            unused: R.Tensor((2, 3), dtype="float32") = R.exp(x)
            b: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = x, x
            c: R.Tensor((2, 3), dtype="float32") = b[0]
            R.output(c)
        return c

    @R.function
    def plain(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        a: R.Tensor((2, 3), dtype="float32") = R.nn.relu(x)
        return a
