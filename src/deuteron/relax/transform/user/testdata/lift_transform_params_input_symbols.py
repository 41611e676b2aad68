# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w1: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        n = T.int64()
        with R.dataflow():
            l1 = R.broadcast_to(w1, R.shape([n, 3, 3]))
            l2 = R.exp(w1)
            sh = R.shape_of(w1)
            l3 = R.reshape(l2, sh)
            l4 = R.add(l3, R.zeros(R.shape([3, 3]), "float32"))
            a = R.matmul(x, l1)
            b = R.matmul(a, l4)
            R.output(b)
        return b
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            l2: R.Tensor((3, 3), dtype="float32") = R.exp(w1)
            sh: R.Shape([3, 3]) = R.shape_of(w1)
            l3: R.Tensor((3, 3), dtype="float32") = R.reshape(l2, sh)
            lv: R.Tensor((3, 3), dtype="float32") = R.zeros(R.shape([3, 3]), dtype="float32")
            l4: R.Tensor((3, 3), dtype="float32") = R.add(l3, lv)
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")) = w1, l4
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((n, 3), dtype="float32"), w1: R.Tensor((3, 3), dtype="float32"), l4: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((n, n, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l1: R.Tensor((n, 3, 3), dtype="float32") = R.broadcast_to(w1, R.shape([n, 3, 3]))
            lv: R.Tensor((3, 3), dtype="float32") = R.zeros(R.shape([3, 3]), dtype="float32")
            a: R.Tensor((n, n, 3), dtype="float32") = R.matmul(x, l1, out_dtype=None)
            b: R.Tensor((n, n, 3), dtype="float32") = R.matmul(a, l4, out_dtype=None)
            R.output(b)
        return b
