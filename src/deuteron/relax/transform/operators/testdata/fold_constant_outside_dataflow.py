# run: FoldConstant
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))
        with R.dataflow():
            b = R.add(R.const(3.0, "float32"), R.const(4.0, "float32"))
            R.output(b)
        c = R.add(a, b)
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
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((), dtype="float32"):
        a: R.Tensor((), dtype="float32") = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))
        c: R.Tensor((), dtype="float32") = R.add(a, R.const(7.0, "float32"))
        return c
