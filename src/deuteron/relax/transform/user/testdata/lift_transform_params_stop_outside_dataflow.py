# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        R.func_attr({"num_input": 1})
        a = R.exp(w)
        b = R.builtin.stop_lift_params(a)
        c = R.tanh(b)
        e = R.add(x, c)
        f = R.builtin.stop_lift_params(e)
        return f
    @R.function
    def other(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.exp(w)
            b = R.builtin.stop_lift_params(a)
            c = R.tanh(b)
            gv = R.add(x, c)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((4, 4), dtype="float32"))) -> R.Tuple(R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"num_input": 0})
        return model_params

    @R.function
    def other(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.exp(w)
            b: R.Tensor((4, 4), dtype="float32") = R.builtin.stop_lift_params(a)
            c: R.Tensor((4, 4), dtype="float32") = R.tanh(b)
            gv: R.Tensor((4, 4), dtype="float32") = R.add(x, c)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"num_input": 1})
        a: R.Tensor((4, 4), dtype="float32") = R.exp(w)
        b: R.Tensor((4, 4), dtype="float32") = a
        c: R.Tensor((4, 4), dtype="float32") = R.tanh(b)
        e: R.Tensor((4, 4), dtype="float32") = R.add(x, c)
        f: R.Tensor((4, 4), dtype="float32") = e
        return f
