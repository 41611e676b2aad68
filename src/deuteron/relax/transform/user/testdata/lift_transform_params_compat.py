# run: LiftTransformParams
# config: tvm_compat=true
# TVM projects a weight at each of its uses.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1, "foo": 3})
        with R.dataflow():
            l1 = R.add(w1, w1)
            t = (w1, w2, w1)
            l2 = R.concat(t, axis=0)
            l3 = R.match_cast(w2, R.Tensor((3, 3), "float32"))
            a = R.matmul(x, l1)
            b = R.matmul(a, R.permute_dims(l2))
            c = R.matmul(x, l3)
            l4 = R.reshape(w2, R.shape([9]))
            c2 = R.multiply(l4, l4)
            R.output(b, c, l4)
        return (b, c, l4)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 9), dtype="float32"), R.Tensor((9,), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            w1_1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            l1: R.Tensor((3, 3), dtype="float32") = R.add(w1, w1_1)
            w1_2: R.Tensor((3, 3), dtype="float32") = model_params[0]
            w2: R.Tensor((3, 3), dtype="float32") = model_params[1]
            w1_3: R.Tensor((3, 3), dtype="float32") = model_params[0]
            t: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32")) = w1_2, w2, w1_3
            l2: R.Tensor((9, 3), dtype="float32") = R.concat(t, axis=0)
            l3: R.Tensor((3, 3), dtype="float32") = model_params[1]
            lv: R.Tensor((3, 9), dtype="float32") = R.permute_dims(l2, axes=None)
            w2_1: R.Tensor((3, 3), dtype="float32") = model_params[1]
            l4: R.Tensor((9,), dtype="float32") = R.reshape(w2_1, R.shape([9]))
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 9), dtype="float32"), R.Tensor((9,), dtype="float32")) = l1, l3, lv, l4
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32"), l1: R.Tensor((3, 3), dtype="float32"), l3: R.Tensor((3, 3), dtype="float32"), lv: R.Tensor((3, 9), dtype="float32"), l4: R.Tensor((9,), dtype="float32")) -> R.Tuple(R.Tensor((1, 9), dtype="float32"), R.Tensor((1, 3), dtype="float32"), R.Tensor((9,), dtype="float32")):
        R.func_attr({"foo": 3, "num_input": 1})
        with R.dataflow():
            a: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l1, out_dtype=None)
            b: R.Tensor((1, 9), dtype="float32") = R.matmul(a, lv, out_dtype=None)
            c: R.Tensor((1, 3), dtype="float32") = R.matmul(x, l3, out_dtype=None)
            R.output(b, c)
        gv: R.Tuple(R.Tensor((1, 9), dtype="float32"), R.Tensor((1, 3), dtype="float32"), R.Tensor((9,), dtype="float32")) = b, c, l4
        return gv
