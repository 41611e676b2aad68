# run: LiftTransformParams
# expect-remark: LiftTransformParams l1: prepared-once
# expect-remark: LiftTransformParams l3: prepared-once
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l1 = R.permute_dims(w1)
            a = R.matmul(x, l1)
            l2 = R.permute_dims(w2)
            l3 = R.exp(l2)
            b = R.matmul(a, l3)
            c = R.matmul(b, w2)
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
    def main_transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            l1: R.Tensor((3, 3), dtype="float32") = R.permute_dims(w1, axes=None)
            w2: R.Tensor((3, 3), dtype="float32") = model_params[1]
            l2: R.Tensor((3, 3), dtype="float32") = R.permute_dims(w2, axes=None)
            l3: R.Tensor((3, 3), dtype="float32") = R.exp(l2)
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")) = w2, l1, l3
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32"), w2: R.Tensor((3, 3), dtype="float32"), l1: R.Tensor((3, 3), dtype="float32"), l3: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((1, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l1, out_dtype=None)
            b: R.Tensor((1, 3), dtype="float32") = R.matmul(a, l3, out_dtype=None)
            c: R.Tensor((1, 3), dtype="float32") = R.matmul(b, w2, out_dtype=None)
            R.output(c)
        return c
