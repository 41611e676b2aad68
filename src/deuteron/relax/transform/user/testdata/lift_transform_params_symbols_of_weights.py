# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), dtype="float32"), w: R.Tensor(("n", 4), dtype="float32"), s: R.Tensor(("m",), dtype="float32")):
        n = T.int64()
        m = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.sum(w, axis=[0])
            b = R.add(x, a)
            c = R.zeros(R.shape([m, n]), dtype="float32")
            d = R.full(R.shape([m, n]), R.const(1.0, "float32"), dtype="float32")
            e = R.add(d, R.sum(b))
            R.output(e)
        return e
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
    def main_transform_params(model_params: R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor((m,), dtype="float32"))) -> R.Tuple(R.Shape([m, n]), R.Tensor((4,), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w: R.Tensor((n, 4), dtype="float32") = model_params[0]
            a: R.Tensor((4,), dtype="float32") = R.sum(w, axis=[0], keepdims=False)
            output_tuple: R.Tuple(R.Shape([m, n]), R.Tensor((4,), dtype="float32")) = R.shape([m, n]), a
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((2, 4), dtype="float32"), vars_from_compile_time_params: R.Shape([m, n]), a: R.Tensor((4,), dtype="float32")) -> R.Tensor((m, n), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            b: R.Tensor((2, 4), dtype="float32") = R.add(x, a)
            c: R.Tensor((m, n), dtype="float32") = R.zeros(R.shape([m, n]), dtype="float32")
            d: R.Tensor((m, n), dtype="float32") = R.full(R.shape([m, n]), R.const(1.0, "float32"), dtype="float32")
            lv: R.Tensor((), dtype="float32") = R.sum(b, axis=None, keepdims=False)
            e: R.Tensor((m, n), dtype="float32") = R.add(d, lv)
            R.output(e)
        return e
