# run: ToNonDataflow
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(a)
            R.output(b)
        if c:
            with R.dataflow():
                lv = R.negative(b)
                d1 = R.exp(lv)
                R.output(d1)
            d = d1
        else:
            d = R.exp(b)
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
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        a: R.Tensor((2, 3), dtype="float32") = R.exp(x)
        b: R.Tensor((2, 3), dtype="float32") = R.tanh(a)
        if c:
            lv: R.Tensor((2, 3), dtype="float32") = R.negative(b)
            d1: R.Tensor((2, 3), dtype="float32") = R.exp(lv)
            d: R.Tensor((2, 3), dtype="float32") = d1
        else:
            d_else: R.Tensor((2, 3), dtype="float32") = R.exp(b)
            d: R.Tensor((2, 3), dtype="float32") = d_else
        return d
