# run: FoldConstant
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.full(R.shape([n, 2]), R.const(1.0, "float32"), dtype="float32")
            b = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))
            c = R.add(a, b)
            R.output(c)
        return c
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
    def main(x: R.Tensor((n, 2), dtype="float32")) -> R.Tensor((n, 2), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((n, 2), dtype="float32") = R.full(R.shape([n, 2]), R.const(1.0, "float32"), dtype="float32")
            c: R.Tensor((n, 2), dtype="float32") = R.add(a, R.const(3.0, "float32"))
            R.output(c)
        return c
