# run: FuseOpsByPattern(patterns=['dnnl.exp2 = relax.exp(relax.exp(_))', 'dnnl.tanh2 = relax.tanh(relax.tanh(_))', 'dnnl.add_matmul = relax.matmul(_ + _, _)'])
# The uses of an intermediate value come after the function; two groups that would need each other are not both made.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            e1 = R.exp(x)
            t1 = R.tanh(e1)
            e2 = R.exp(e1)
            t2 = R.tanh(t1)
            s = R.add(e2, t2)
            n = R.negative(s)
            m = R.matmul(s, n)
            u = R.matmul(s, x)
            R.output(m, u)
        return (m, u)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_add_relax_matmul(e2: R.Tensor((4, 4), dtype="float32"), t2: R.Tensor((4, 4), dtype="float32"), x: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"Composite": "dnnl.add_matmul", "Primitive": True})
        with R.dataflow():
            s: R.Tensor((4, 4), dtype="float32") = R.add(e2, t2)
            u: R.Tensor((4, 4), dtype="float32") = R.matmul(s, x, out_dtype=None)
            R.output(s, u)
        return (u, s)

    @R.function(private=True)
    def fused_relax_exp_relax_exp(x: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"Composite": "dnnl.exp2", "Primitive": True})
        with R.dataflow():
            e1: R.Tensor((4, 4), dtype="float32") = R.exp(x)
            e2: R.Tensor((4, 4), dtype="float32") = R.exp(e1)
            R.output(e1, e2)
        return (e1, e2)

    @R.function(private=True)
    def fused_relax_tanh_relax_tanh(e1: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.tanh2", "Primitive": True})
        with R.dataflow():
            t1: R.Tensor((4, 4), dtype="float32") = R.tanh(e1)
            t2: R.Tensor((4, 4), dtype="float32") = R.tanh(t1)
            R.output(t2)
        return t2

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_relax_exp_relax_exp(x)
            e1: R.Tensor((4, 4), dtype="float32") = lv[0]
            e2: R.Tensor((4, 4), dtype="float32") = lv[1]
            t2: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_tanh_relax_tanh(e1)
            gv: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_relax_add_relax_matmul(e2, t2, x)
            s: R.Tensor((4, 4), dtype="float32") = gv[1]
            u: R.Tensor((4, 4), dtype="float32") = gv[0]
            n: R.Tensor((4, 4), dtype="float32") = R.negative(s)
            m: R.Tensor((4, 4), dtype="float32") = R.matmul(s, n, out_dtype=None)
            R.output(gv, u, m)
        return (m, u)
