# run: FuseOpsByPattern(patterns=['dnnl.scale = relax.multiply(_ + const, const)'])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.add(x, R.const(1.0, "float32"))
            b = R.multiply(a, R.const(3.0, "float32"))
            c = R.add(b, R.const(1.0, "float32"))
            d = R.multiply(c, R.const(3.0, "float32"))
            e = R.add(d, R.const(2.0, "float32"))
            f = R.multiply(R.const(3.0, "float32"), e)
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
    def fused_relax_add_relax_multiply(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.scale", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.add(x, R.const(1.0, "float32"))
            b: R.Tensor((4, 4), dtype="float32") = R.multiply(a, R.const(3.0, "float32"))
            R.output(b)
        return b

    @R.function(private=True)
    def fused_relax_add_relax_multiply1(d: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.scale", "Primitive": True})
        with R.dataflow():
            e: R.Tensor((4, 4), dtype="float32") = R.add(d, R.const(2.0, "float32"))
            f: R.Tensor((4, 4), dtype="float32") = R.multiply(R.const(3.0, "float32"), e)
            R.output(f)
        return f

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_add_relax_multiply(x)
            d: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_add_relax_multiply(b)
            f: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_add_relax_multiply1(d)
            R.output(f)
        return f
