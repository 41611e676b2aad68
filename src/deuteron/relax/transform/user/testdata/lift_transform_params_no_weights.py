# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.exp(x)
            R.output(a)
        return a
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple) -> R.Tuple:
        R.func_attr({"num_input": 0})
        return R.tuple()

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32")) -> R.Tensor((1, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a: R.Tensor((1, 3), dtype="float32") = R.exp(x)
            R.output(a)
        return a
