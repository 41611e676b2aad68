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
    def add(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnl.add", "Primitive": True})
        with R.dataflow():
            gv = R.add(x, y)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.mm(x, w)
            b = cls.relu(a)
            c = R.exp(a)
            gv = cls.add(b, c)
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
    def fused_add_dnnl(b: R.Tensor((4, 4), dtype="float32"), c: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Codegen": "dnnl"})
        @R.function
        def add(x: R.Tensor((4, 4), dtype="float32"), y: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.add"})
            with R.dataflow():
                gv: R.Tensor((4, 4), dtype="float32") = R.add(x, y)
                R.output(gv)
            return gv

        gv: R.Tensor((4, 4), dtype="float32") = add(b, c)
        return gv

    @R.function
    def fused_mm_relu_dnnl(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
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
        return (a, b)

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_mm_relu_dnnl(x, w)
            a: R.Tensor((4, 4), dtype="float32") = lv[0]
            b: R.Tensor((4, 4), dtype="float32") = lv[1]
            c: R.Tensor((4, 4), dtype="float32") = R.exp(a)
            gv: R.Tensor((4, 4), dtype="float32") = cls.fused_add_dnnl(b, c)
            R.output(gv)
        return gv
