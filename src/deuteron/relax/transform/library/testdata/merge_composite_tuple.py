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
    def two(x: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnl.two", "Primitive": True})
        with R.dataflow():
            gv = R.nn.relu(x)
            hv = R.exp(gv)
            R.output(gv, hv)
        return gv, hv

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            t = cls.two(x)
            t0 = t[0]
            a = cls.relu(t0)
            u = cls.two(w)
            u1 = u[1]
            b = cls.mm(a, u1)
            gv = R.add(b, b)
            R.output(gv, u)
        return gv, u
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def fused_two_dnnl(w: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"Codegen": "dnnl"})
        @R.function
        def two(x: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
            R.func_attr({"Composite": "dnnl.two"})
            with R.dataflow():
                gv: R.Tensor((4, 4), dtype="float32") = R.nn.relu(x)
                hv: R.Tensor((4, 4), dtype="float32") = R.exp(gv)
                R.output(gv, hv)
            return (gv, hv)

        u: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = two(w)
        return u

    @R.function
    def fused_two_relu_mm_dnnl(x: R.Tensor((4, 4), dtype="float32"), u1: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Codegen": "dnnl"})
        @R.function
        def two(x_1: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
            R.func_attr({"Composite": "dnnl.two"})
            with R.dataflow():
                gv: R.Tensor((4, 4), dtype="float32") = R.nn.relu(x_1)
                hv: R.Tensor((4, 4), dtype="float32") = R.exp(gv)
                R.output(gv, hv)
            return (gv, hv)

        t: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = two(x)
        t0: R.Tensor((4, 4), dtype="float32") = t[0]
        @R.function
        def relu(x_1: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.relu"})
            with R.dataflow():
                gv: R.Tensor((4, 4), dtype="float32") = R.nn.relu(x_1)
                R.output(gv)
            return gv

        a: R.Tensor((4, 4), dtype="float32") = relu(t0)
        @R.function
        def mm(x_1: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.matmul"})
            with R.dataflow():
                gv: R.Tensor((4, 4), dtype="float32") = R.matmul(x_1, w, out_dtype=None)
                R.output(gv)
            return gv

        b: R.Tensor((4, 4), dtype="float32") = mm(a, u1)
        return b

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"))):
        cls = Module
        with R.dataflow():
            u: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_two_dnnl(w)
            u1: R.Tensor((4, 4), dtype="float32") = u[1]
            b: R.Tensor((4, 4), dtype="float32") = cls.fused_two_relu_mm_dnnl(x, u1)
            gv: R.Tensor((4, 4), dtype="float32") = R.add(b, b)
            R.output(u, gv)
        return (gv, u)
