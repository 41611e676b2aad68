# run: FuseOpsByPattern(patterns=['dnnl.any = relax.exp(relax.exp(_)) | relax.nn.relu(relax.matmul(_, _)) | relax.tanh(relax.nn.relu(relax.matmul(_, _)))'])
# expect-remark: FuseOpsByPattern e2 -> dnnl.any: pattern-overlap
# A match that contains an earlier one takes its place; one that overlaps it in part does not.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.tanh(b)
            d = R.sin(b)
            e0 = R.exp(d)
            e1 = R.exp(e0)
            e2 = R.exp(e1)
            e3 = R.exp(e2)
            e4 = R.exp(e3)
            f = R.add(e4, c)
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
    def fused_relax_exp_relax_exp(d: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.any", "Primitive": True})
        with R.dataflow():
            e0: R.Tensor((4, 4), dtype="float32") = R.exp(d)
            e1: R.Tensor((4, 4), dtype="float32") = R.exp(e0)
            R.output(e1)
        return e1

    @R.function(private=True)
    def fused_relax_matmul_relax_nn_relu_relax_tanh(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"Composite": "dnnl.any", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.matmul(x, w, out_dtype=None)
            b: R.Tensor((4, 4), dtype="float32") = R.nn.relu(a)
            c: R.Tensor((4, 4), dtype="float32") = R.tanh(b)
            R.output(b, c)
        return (b, c)

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_relax_matmul_relax_nn_relu_relax_tanh(x, w)
            b: R.Tensor((4, 4), dtype="float32") = lv[0]
            c: R.Tensor((4, 4), dtype="float32") = lv[1]
            d: R.Tensor((4, 4), dtype="float32") = R.sin(b)
            e1: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_exp_relax_exp(d)
            e3: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_exp_relax_exp(e1)
            e4: R.Tensor((4, 4), dtype="float32") = R.exp(e3)
            f: R.Tensor((4, 4), dtype="float32") = R.add(e4, c)
            R.output(f)
        return f
