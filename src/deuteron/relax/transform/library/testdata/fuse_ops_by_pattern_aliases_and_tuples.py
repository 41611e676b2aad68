# run: FuseOpsByPattern(patterns=['dnnl.matmul_relu = relax.nn.relu(relax.matmul(_, _))', 'dnnl.concat = relax.concat(tuple(relax.exp(_), _))', 'dnnl.split_add = relax.split(_)[0] + relax.split(_)[1]', 'dnnl.split = relax.split(_)'])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            a2 = a
            b = R.nn.relu(a2)
            leak = R.sin(a2)
            e = R.exp(b)
            t = (e, leak)
            cat = R.concat(t, axis=1)
            s = R.split(cat, 2, axis=1)
            s0 = s[0]
            s1 = s[1]
            sum = R.add(s0, s1)
            s2 = R.split(sum, 2, axis=0)
            R.output(s2)
        return s2
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_exp_relax_concat(b: R.Tensor((4, 4), dtype="float32"), leak: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Composite": "dnnl.concat", "Primitive": True})
        with R.dataflow():
            e: R.Tensor((4, 4), dtype="float32") = R.exp(b)
            t: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = e, leak
            cat: R.Tensor((4, 8), dtype="float32") = R.concat(t, axis=1)
            R.output(cat)
        return cat

    @R.function(private=True)
    def fused_relax_matmul_relax_nn_relu(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"Composite": "dnnl.matmul_relu", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.matmul(x, w, out_dtype=None)
            b: R.Tensor((4, 4), dtype="float32") = R.nn.relu(a)
            R.output(a, b)
        return (a, b)

    @R.function(private=True)
    def fused_relax_split(sum: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 4), dtype="float32")):
        R.func_attr({"Composite": "dnnl.split", "Primitive": True})
        with R.dataflow():
            s2: R.Tuple(R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 4), dtype="float32")) = R.split(sum, indices_or_sections=2, axis=0)
            R.output(s2)
        return s2

    @R.function(private=True)
    def fused_relax_split_relax_add(cat: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.split_add", "Primitive": True})
        with R.dataflow():
            s: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = R.split(cat, indices_or_sections=2, axis=1)
            s0: R.Tensor((4, 4), dtype="float32") = s[0]
            s1: R.Tensor((4, 4), dtype="float32") = s[1]
            sum: R.Tensor((4, 4), dtype="float32") = R.add(s0, s1)
            R.output(sum)
        return sum

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 4), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_relax_matmul_relax_nn_relu(x, w)
            a: R.Tensor((4, 4), dtype="float32") = lv[0]
            b: R.Tensor((4, 4), dtype="float32") = lv[1]
            leak: R.Tensor((4, 4), dtype="float32") = R.sin(a)
            cat: R.Tensor((4, 8), dtype="float32") = cls.fused_relax_exp_relax_concat(b, leak)
            sum: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_split_relax_add(cat)
            s2: R.Tuple(R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 4), dtype="float32")) = cls.fused_relax_split(sum)
            R.output(s2)
        return s2
