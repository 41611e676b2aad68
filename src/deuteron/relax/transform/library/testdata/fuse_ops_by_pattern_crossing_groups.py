# run: FuseOpsByPattern(patterns=['dnnl.tanh = relax.tanh(relax.exp(_) + _)', 'dnnl.cos = relax.cos(relax.sin(_) + _)'])
# expect-remark: FuseOpsByPattern c -> dnnl.cos: pattern-cycle
# Each match is sound by itself, but the two functions would need each other.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            e = R.exp(x)
            s = R.sin(y)
            es = R.add(e, s)
            se = R.add(s, e)
            t = R.tanh(es)
            c = R.cos(se)
            r = R.add(t, c)
            R.output(r)
        return r
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_exp_relax_add_relax_tanh(x: R.Tensor((4, 4), dtype="float32"), s: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"Composite": "dnnl.tanh", "Primitive": True})
        with R.dataflow():
            e: R.Tensor((4, 4), dtype="float32") = R.exp(x)
            es: R.Tensor((4, 4), dtype="float32") = R.add(e, s)
            t: R.Tensor((4, 4), dtype="float32") = R.tanh(es)
            R.output(e, t)
        return (e, t)

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), y: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            s: R.Tensor((4, 4), dtype="float32") = R.sin(y)
            lv: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_relax_exp_relax_add_relax_tanh(x, s)
            e: R.Tensor((4, 4), dtype="float32") = lv[0]
            t: R.Tensor((4, 4), dtype="float32") = lv[1]
            se: R.Tensor((4, 4), dtype="float32") = R.add(s, e)
            c: R.Tensor((4, 4), dtype="float32") = R.cos(se)
            r: R.Tensor((4, 4), dtype="float32") = R.add(t, c)
            R.output(r)
        return r
