# run: FuseOpsByPattern(patterns=['dnnl.relu = relax.nn.relu(_)'], entry_functions=[main, f]),FuseOpsByPattern(patterns=['dnnl.relu = relax.nn.relu(_)'], entry_functions=[main])
# Functions that are Primitive, Composite or Codegen, and those that are no entries, stay as they are.
@I.ir_module
class Module:
    @R.function(private=True)
    def f(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        R.func_attr({"Primitive": True})
        with R.dataflow():
            a = R.nn.relu(x)
            R.output(a)
        return a
    @R.function
    def other(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        with R.dataflow():
            a = R.nn.relu(x)
            R.output(a)
        return a
    @R.function
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        cls = Module
        with R.dataflow():
            a = R.nn.relu(x)
            b = cls.f(a)
            c = cls.other(b)
            R.output(c)
        return c
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.nn.relu(x)
            R.output(a)
        return a

    @R.function(private=True)
    def fused_relax_nn_relu(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.relu", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.nn.relu(x)
            R.output(a)
        return a

    @R.function
    def other(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.nn.relu(x)
            R.output(a)
        return a

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_nn_relu(x)
            b: R.Tensor((4, 4), dtype="float32") = cls.f(a)
            c: R.Tensor((4, 4), dtype="float32") = cls.other(b)
            R.output(c)
        return c
