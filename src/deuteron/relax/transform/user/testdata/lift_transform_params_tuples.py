# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w: R.Tuple(R.Tensor((3, 3), "float32"), R.Tensor((3, 3), "float32"))):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            w1 = w[0]
            w2 = w[1]
            l1 = R.permute_dims(w1)
            gv = R.matmul(x, l1)
            gv3 = R.matmul(gv, w2)
            R.output(gv3)
        return gv3
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")) = model_params[0]
            w1: R.Tensor((3, 3), dtype="float32") = w[0]
            w2: R.Tensor((3, 3), dtype="float32") = w[1]
            l1: R.Tensor((3, 3), dtype="float32") = R.permute_dims(w1, axes=None)
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")) = w2, l1
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32"), w2: R.Tensor((3, 3), dtype="float32"), l1: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((1, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            gv: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l1, out_dtype=None)
            gv3: R.Tensor((1, 3), dtype="float32") = R.matmul(gv, w2, out_dtype=None)
            R.output(gv3)
        return gv3
