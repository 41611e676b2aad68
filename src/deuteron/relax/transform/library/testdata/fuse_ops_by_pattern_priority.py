# run: FuseOpsByPattern(patterns=['dnnl.matmul_add = relax.matmul(_, _) + _', 'dnnl.relu_sum = relax.nn.relu(_ + _)', 'dnnl.matmul = relax.matmul(_, _)', 'dnnl.relu = relax.nn.relu(_)'])
# The first pattern takes what it matches everywhere, then the second; later ones do not look into what is taken.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.add(x, w)
            b = R.nn.relu(a)
            c = R.matmul(b, w)
            d = R.add(x, c)
            e = R.nn.relu(d)
            f = R.matmul(e, e)
            g = R.nn.relu(f)
            R.output(g)
        return g
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_add_relax_nn_relu(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.relu_sum", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.add(x, w)
            b: R.Tensor((4, 4), dtype="float32") = R.nn.relu(a)
            R.output(b)
        return b

    @R.function(private=True)
    def fused_relax_matmul(e: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.matmul", "Primitive": True})
        with R.dataflow():
            f: R.Tensor((4, 4), dtype="float32") = R.matmul(e, e, out_dtype=None)
            R.output(f)
        return f

    @R.function(private=True)
    def fused_relax_matmul_relax_add(b: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32"), x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.matmul_add", "Primitive": True})
        with R.dataflow():
            c: R.Tensor((4, 4), dtype="float32") = R.matmul(b, w, out_dtype=None)
            d: R.Tensor((4, 4), dtype="float32") = R.add(x, c)
            R.output(d)
        return d

    @R.function(private=True)
    def fused_relax_nn_relu(d: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.relu", "Primitive": True})
        with R.dataflow():
            e: R.Tensor((4, 4), dtype="float32") = R.nn.relu(d)
            R.output(e)
        return e

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_add_relax_nn_relu(x, w)
            d: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_matmul_relax_add(b, w, x)
            e: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_nn_relu(d)
            f: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_matmul(e)
            g: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_nn_relu(f)
            R.output(g)
        return g
