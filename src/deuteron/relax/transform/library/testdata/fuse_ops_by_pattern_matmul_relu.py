# run: FuseOpsByPattern(patterns=['dnnl.matmul_relu = relax.nn.relu(relax.matmul(_, _))', 'dnnl.exp = relax.exp(_)'])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.matmul(b, w)
            d = R.nn.relu(c)
            e = R.exp(d)
            f = R.tanh(e)
            R.output(f)
        return f
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_exp(d: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Composite": "dnnl.exp", "Primitive": True})
        with R.dataflow():
            e: R.Tensor((4, 8), dtype="float32") = R.exp(d)
            R.output(e)
        return e

    @R.function(private=True)
    def fused_relax_matmul_relax_nn_relu(x: R.Tensor((4, 8), dtype="float32"), w: R.Tensor((8, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Composite": "dnnl.matmul_relu", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((4, 8), dtype="float32") = R.matmul(x, w, out_dtype=None)
            b: R.Tensor((4, 8), dtype="float32") = R.nn.relu(a)
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), w: R.Tensor((8, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((4, 8), dtype="float32") = cls.fused_relax_matmul_relax_nn_relu(x, w)
            d: R.Tensor((4, 8), dtype="float32") = cls.fused_relax_matmul_relax_nn_relu(b, w)
            e: R.Tensor((4, 8), dtype="float32") = cls.fused_relax_exp(d)
            f: R.Tensor((4, 8), dtype="float32") = R.tanh(e)
            R.output(f)
        return f
