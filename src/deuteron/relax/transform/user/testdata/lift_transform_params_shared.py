# run: LiftTransformParams(shared_transform=true)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l1 = R.permute_dims(w1)
            a = R.matmul(x, l1)
            R.output(a)
        return a
    @R.function
    def second(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l1 = R.permute_dims(w1)
            l2 = R.exp(w2)
            a = R.matmul(x, l1)
            b = R.matmul(a, l2)
            R.output(b)
        return b
    @R.function
    def third(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        l1 = R.permute_dims(w1)
        return l1
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def second(x: R.Tensor((1, 3), dtype="float32"), w2: R.Tensor((3, 3), dtype="float32"), l1: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((1, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l2: R.Tensor((3, 3), dtype="float32") = R.exp(w2)
            a: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l1, out_dtype=None)
            b: R.Tensor((1, 3), dtype="float32") = R.matmul(a, l2, out_dtype=None)
            R.output(b)
        return b

    @R.function
    def third(x: R.Tensor((1, 3), dtype="float32"), w1: R.Tensor((3, 3), dtype="float32"), w2: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((3, 3), dtype="float32"):
        l1: R.Tensor((3, 3), dtype="float32") = R.permute_dims(w1, axes=None)
        return l1

    @R.function
    def transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            l1: R.Tensor((3, 3), dtype="float32") = R.permute_dims(w1, axes=None)
            w2: R.Tensor((3, 3), dtype="float32") = model_params[1]
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")) = w2, l1
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32"), w2: R.Tensor((3, 3), dtype="float32"), l1: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((1, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l1, out_dtype=None)
            R.output(a)
        return a
