# run: ConvertToDataflow
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        a = R.exp(x)
        with R.dataflow():
            b = R.tanh(a)
            R.output(b)
        c = R.negative(b)
        _ = R.print(c, format="{}")
        d = R.add(c, x)
        return d
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32") = R.exp(x)
            b: R.Tensor((2, 3), dtype="float32") = R.tanh(a)
            c: R.Tensor((2, 3), dtype="float32") = R.negative(b)
            R.output(c)
        R.print(c, format=R.str("{}"))
        d: R.Tensor((2, 3), dtype="float32") = R.add(c, x)
        return d
