# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l2 = R.exp(w1)
            y = w1
            a = R.matmul(x, l2)
            b = R.matmul(a, y)
            R.output(b)
        z = R.exp(b)
        with R.dataflow():
            l4 = R.exp(w1)
            l5 = R.exp(l4)
            c = R.matmul(z, l5)
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
    def main_transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            l2: R.Tensor((3, 3), dtype="float32") = R.exp(w1)
            y: R.Tensor((3, 3), dtype="float32") = w1
            l4: R.Tensor((3, 3), dtype="float32") = R.exp(w1)
            l5: R.Tensor((3, 3), dtype="float32") = R.exp(l4)
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")) = l2, y, l5
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32"), l2: R.Tensor((3, 3), dtype="float32"), y: R.Tensor((3, 3), dtype="float32"), l5: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((1, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l2, out_dtype=None)
            b: R.Tensor((1, 3), dtype="float32") = R.matmul(a, y, out_dtype=None)
            R.output(b)
        z: R.Tensor((1, 3), dtype="float32") = R.exp(b)
        with R.dataflow():
            c: R.Tensor((1, 3), dtype="float32") = R.matmul(z, l5, out_dtype=None)
            R.output(c)
        return c
