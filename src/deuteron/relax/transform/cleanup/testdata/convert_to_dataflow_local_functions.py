# run: ConvertToDataflow
# A local function is taken in.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        @R.function
        def inner(p: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            q: R.Tensor((4,), dtype="float32") = R.add(p, p)
            return q
        y: R.Tensor((4,), dtype="float32") = inner(x)
        with R.dataflow():
            z: R.Tensor((4,), dtype="float32") = R.exp(y)
            R.output(z)
        return z
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
            @R.function
            def inner(p: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
                q: R.Tensor((4,), dtype="float32") = R.add(p, p)
                return q

            y: R.Tensor((4,), dtype="float32") = inner(x)
            z: R.Tensor((4,), dtype="float32") = R.exp(y)
            R.output(z)
        return z
