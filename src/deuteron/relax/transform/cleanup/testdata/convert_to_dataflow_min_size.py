# run: ConvertToDataflow(min_size=3)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2, 3), "float32"):
        a = R.exp(x)
        b = R.tanh(a)
        if c:
            d = R.negative(b)
        else:
            e = R.exp(b)
            f = R.exp(e)
            d = R.exp(f)
        g = R.add(d, x)
        return g
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
            d_then: R.Tensor((2, 3), dtype="float32") = R.negative(b)
            d: R.Tensor((2, 3), dtype="float32") = d_then
        else:
            with R.dataflow():
                e: R.Tensor((2, 3), dtype="float32") = R.exp(b)
                f: R.Tensor((2, 3), dtype="float32") = R.exp(e)
                d_else: R.Tensor((2, 3), dtype="float32") = R.exp(f)
                R.output(d_else)
            d: R.Tensor((2, 3), dtype="float32") = d_else
        g: R.Tensor((2, 3), dtype="float32") = R.add(d, x)
        return g
