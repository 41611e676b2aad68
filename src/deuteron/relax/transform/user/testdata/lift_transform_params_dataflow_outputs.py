# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((4, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l1 = R.permute_dims(w1)
            l2 = R.permute_dims(w1)
            gv = R.matmul(x, l1)
            gv2 = R.permute_dims(w2)
            gv3 = R.matmul(gv, l2)
            R.output(gv, gv2, gv3)
        return (gv, gv2, gv3)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((4, 3), dtype="float32"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 4), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            l1: R.Tensor((3, 3), dtype="float32") = R.permute_dims(w1, axes=None)
            l2: R.Tensor((3, 3), dtype="float32") = R.permute_dims(w1, axes=None)
            w2: R.Tensor((4, 3), dtype="float32") = model_params[1]
            gv2: R.Tensor((3, 4), dtype="float32") = R.permute_dims(w2, axes=None)
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 4), dtype="float32")) = l1, l2, gv2
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32"), l1: R.Tensor((3, 3), dtype="float32"), l2: R.Tensor((3, 3), dtype="float32"), gv2: R.Tensor((3, 4), dtype="float32")) -> R.Tuple(R.Tensor((1, 3), dtype="float32"), R.Tensor((3, 4), dtype="float32"), R.Tensor((1, 3), dtype="float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            gv: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l1, out_dtype=None)
            gv3: R.Tensor((1, 3), dtype="float32") = R.matmul(gv, l2, out_dtype=None)
            R.output(gv, gv3)
        return (gv, gv2, gv3)
