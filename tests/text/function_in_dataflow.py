# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            @R.function
            def double(g: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
                h = R.add(g, g)
                return h
            y = double(x)
            R.output(y)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def main_double(g: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        h: R.Tensor((2, 3), dtype="float32") = R.add(g, g)
        return h

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        with R.dataflow():
            y: R.Tensor((2, 3), dtype="float32") = cls.main_double(x)
            R.output(y)
        return y
