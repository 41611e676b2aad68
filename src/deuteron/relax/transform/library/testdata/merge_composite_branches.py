# run: MergeCompositeFunctions
@I.ir_module
class Module:
    @R.function(private=True)
    def mm(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnl.matmul", "Primitive": True})
        with R.dataflow():
            gv = R.matmul(x, w)
            R.output(gv)
        return gv

    @R.function(private=True)
    def relu(x: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnl.relu", "Primitive": True})
        with R.dataflow():
            gv = R.nn.relu(x)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            s = R.sum(x)
            c = R.greater(s, R.const(0, "float32"))
            R.output(c)
        if c:
            with R.dataflow():
                a = cls.mm(x, w)
                b = cls.relu(a)
                R.output(b)
            r = b
        else:
            with R.dataflow():
                a = cls.mm(x, w)
                b = cls.relu(a)
                R.output(b)
            r = b
        return r
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def fused_mm_relu_dnnl(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Codegen": "dnnl"})
        @R.function
        def mm(x_1: R.Tensor((4, 4), dtype="float32"), w_1: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.matmul"})
            with R.dataflow():
                gv: R.Tensor((4, 4), dtype="float32") = R.matmul(x_1, w_1, out_dtype=None)
                R.output(gv)
            return gv

        a: R.Tensor((4, 4), dtype="float32") = mm(x, w)
        @R.function
        def relu(x_1: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.relu"})
            with R.dataflow():
                gv: R.Tensor((4, 4), dtype="float32") = R.nn.relu(x_1)
                R.output(gv)
            return gv

        b: R.Tensor((4, 4), dtype="float32") = relu(a)
        return b

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            s: R.Tensor((), dtype="float32") = R.sum(x, axis=None, keepdims=False)
            c: R.Tensor((), dtype="bool") = R.greater(s, R.const(0.0, "float32"))
            R.output(c)
        if c:
            with R.dataflow():
                b: R.Tensor((4, 4), dtype="float32") = cls.fused_mm_relu_dnnl(x, w)
                R.output(b)
            r: R.Tensor((4, 4), dtype="float32") = b
        else:
            with R.dataflow():
                b: R.Tensor((4, 4), dtype="float32") = cls.fused_mm_relu_dnnl(x, w)
                R.output(b)
            r: R.Tensor((4, 4), dtype="float32") = b
        return r
