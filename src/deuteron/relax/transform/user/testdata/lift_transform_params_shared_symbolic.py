# run: LiftTransformParams(shared_transform=true)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, "n"), "float32"), w1: R.Tensor(("n", "m"), "float32"), w2: R.Tensor(("m",), "float32")):
        R.func_attr({"num_input": 1})
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            l1 = R.permute_dims(w1)
            l2 = R.permute_dims(l1)
            a = R.matmul(x, l2)
            z = R.zeros(R.shape([m]), "float32")
            y = R.add(w2, z)
            b = R.add(a, y)
            R.output(b)
        return b
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def transform_params(model_params: R.Tuple(R.Tensor((n, m), dtype="float32"), R.Tensor((m,), dtype="float32"))) -> R.Tuple(R.Tensor((n, m), dtype="float32"), R.Tensor((m,), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w1: R.Tensor((n, m), dtype="float32") = model_params[0]
            l1: R.Tensor((m, n), dtype="float32") = R.permute_dims(w1, axes=None)
            l2: R.Tensor((n, m), dtype="float32") = R.permute_dims(l1, axes=None)
            z: R.Tensor((m,), dtype="float32") = R.zeros(R.shape([m]), dtype="float32")
            w2: R.Tensor((m,), dtype="float32") = model_params[1]
            y: R.Tensor((m,), dtype="float32") = R.add(w2, z)
            output_tuple: R.Tuple(R.Tensor((n, m), dtype="float32"), R.Tensor((m,), dtype="float32")) = l2, y
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((1, n), dtype="float32"), l2: R.Tensor((n, m), dtype="float32"), y: R.Tensor((m,), dtype="float32")) -> R.Tensor((1, m), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a: R.Tensor((1, m), dtype="float32") = R.matmul(x, l2, out_dtype=None)
            z: R.Tensor((m,), dtype="float32") = R.zeros(R.shape([m]), dtype="float32")
            b: R.Tensor((1, m), dtype="float32") = R.add(a, y)
            R.output(b)
        return b
