# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32"), v: R.Tensor((4, 4), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.exp(w)
            b = R.builtin.stop_lift_params(a)
            c = R.tanh(b)
            d = R.builtin.stop_lift_params(x)
            e = R.add(d, c)
            f = R.builtin.stop_lift_params(v)
            g = R.negative(f)
            h = R.builtin.stop_lift_params(e)
            gv = R.add(h, g)
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
    def main_transform_params(model_params: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"))) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w: R.Tensor((4, 4), dtype="float32") = model_params[0]
            a: R.Tensor((4, 4), dtype="float32") = R.exp(w)
            v: R.Tensor((4, 4), dtype="float32") = model_params[1]
            output_tuple: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = v, a
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), v: R.Tensor((4, 4), dtype="float32"), a: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            c: R.Tensor((4, 4), dtype="float32") = R.tanh(a)
            e: R.Tensor((4, 4), dtype="float32") = R.add(x, c)
            g: R.Tensor((4, 4), dtype="float32") = R.negative(v)
            gv: R.Tensor((4, 4), dtype="float32") = R.add(e, g)
            R.output(gv)
        return gv
