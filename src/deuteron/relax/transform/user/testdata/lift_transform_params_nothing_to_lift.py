# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), c: R.Tensor((), "bool")):
        R.func_attr({"num_input": 1})
        l1 = R.permute_dims(w1)
        if c:
            l2 = R.exp(l1)
            a = R.matmul(x, l2)
        else:
            a = R.matmul(x, l1)
        l3 = R.exp(l1)
        d = R.matmul(a, l3)
        return (d, l3, w1)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((), dtype="bool"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((), dtype="bool")):
        R.func_attr({"num_input": 0})
        return model_params

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32"), w1: R.Tensor((3, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tensor((1, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")):
        R.func_attr({"num_input": 1})
        l1: R.Tensor((3, 3), dtype="float32") = R.permute_dims(w1, axes=None)
        if c:
            l2: R.Tensor((3, 3), dtype="float32") = R.exp(l1)
            a_then: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l2, out_dtype=None)
            a: R.Tensor((1, 3), dtype="float32") = a_then
        else:
            a_else: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l1, out_dtype=None)
            a: R.Tensor((1, 3), dtype="float32") = a_else
        l3: R.Tensor((3, 3), dtype="float32") = R.exp(l1)
        d: R.Tensor((1, 3), dtype="float32") = R.matmul(a, l3, out_dtype=None)
        return (d, l3, w1)
