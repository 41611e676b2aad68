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

    @R.function(private=True)
    def other(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "cublas.matmul", "Primitive": True})
        with R.dataflow():
            gv = R.matmul(x, w)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.mm(x, w)
            b = cls.relu(a)
            c = cls.other(b, w)
            d = R.exp(c)
            e = cls.mm(d, w)
            f = cls.relu(e)
            g = cls.other(f, w)
            gv = R.exp(g)
            R.output(gv)
        return gv
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
    def fused_other_cublas(b: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Codegen": "cublas"})
        @R.function
        def other(x: R.Tensor((4, 4), dtype="float32"), w_1: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
            R.func_attr({"Composite": "cublas.matmul"})
            with R.dataflow():
                gv: R.Tensor((4, 4), dtype="float32") = R.matmul(x, w_1, out_dtype=None)
                R.output(gv)
            return gv

        c: R.Tensor((4, 4), dtype="float32") = other(b, w)
        return c

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((4, 4), dtype="float32") = cls.fused_mm_relu_dnnl(x, w)
            c: R.Tensor((4, 4), dtype="float32") = cls.fused_other_cublas(b, w)
            d: R.Tensor((4, 4), dtype="float32") = R.exp(c)
            f: R.Tensor((4, 4), dtype="float32") = cls.fused_mm_relu_dnnl(d, w)
            g: R.Tensor((4, 4), dtype="float32") = cls.fused_other_cublas(f, w)
            gv: R.Tensor((4, 4), dtype="float32") = R.exp(g)
            R.output(gv)
        return gv
