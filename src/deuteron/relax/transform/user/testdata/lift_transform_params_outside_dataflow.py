# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32"), w3: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.matmul(x, w1)
            k = R.zeros(R.shape([3,3]), "float32")
            m = R.add(w1, R.const(1.0, "float32"))
            s = R.split(w2, 3, axis=0)
            t0 = s[0]
            t1 = s[1]
            b = R.add(a, t0)
            d = R.add(b, t1)
            e = R.matmul(d, k)
            f = R.matmul(e, m)
            R.output(f)
        g = R.matmul(f, R.exp(w2))
        return g
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((1, 3), dtype="float32"), R.Tensor((1, 3), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            m: R.Tensor((3, 3), dtype="float32") = R.add(w1, R.const(1.0, "float32"))
            w2: R.Tensor((3, 3), dtype="float32") = model_params[1]
            s: R.Tuple(R.Tensor((1, 3), dtype="float32"), R.Tensor((1, 3), dtype="float32"), R.Tensor((1, 3), dtype="float32")) = R.split(w2, indices_or_sections=3, axis=0)
            t0: R.Tensor((1, 3), dtype="float32") = s[0]
            t1: R.Tensor((1, 3), dtype="float32") = s[1]
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"), R.Tensor((1, 3), dtype="float32"), R.Tensor((1, 3), dtype="float32")) = w1, w2, m, t0, t1
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32"), w1: R.Tensor((3, 3), dtype="float32"), w2: R.Tensor((3, 3), dtype="float32"), m: R.Tensor((3, 3), dtype="float32"), t0: R.Tensor((1, 3), dtype="float32"), t1: R.Tensor((1, 3), dtype="float32")) -> R.Tensor((1, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a: R.Tensor((1, 3), dtype="float32") = R.matmul(x, w1, out_dtype=None)
            k: R.Tensor((3, 3), dtype="float32") = R.zeros(R.shape([3, 3]), dtype="float32")
            b: R.Tensor((1, 3), dtype="float32") = R.add(a, t0)
            d: R.Tensor((1, 3), dtype="float32") = R.add(b, t1)
            e: R.Tensor((1, 3), dtype="float32") = R.matmul(d, k, out_dtype=None)
            f: R.Tensor((1, 3), dtype="float32") = R.matmul(e, m, out_dtype=None)
            R.output(f)
        gv: R.Tensor((3, 3), dtype="float32") = R.exp(w2)
        g: R.Tensor((1, 3), dtype="float32") = R.matmul(f, gv, out_dtype=None)
        return g
