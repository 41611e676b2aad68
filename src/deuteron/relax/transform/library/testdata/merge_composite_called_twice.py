# run: MergeCompositeFunctions
@I.ir_module
class Module:
    @R.function(private=True)
    def relu(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["n"])):
        n = T.int64()
        R.func_attr({"Composite": "dnnl.relu", "Primitive": True})
        with R.dataflow():
            gv = R.nn.relu(x)
            R.output(gv)
        return gv

    @R.function(private=True)
    def add(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        R.func_attr({"Composite": "dnnl.add", "Primitive": True})
        with R.dataflow():
            gv = R.add(x, y)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor(("m", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
        m = T.int64()
        cls = Module
        with R.dataflow():
            a = cls.relu(x, R.shape([m]))
            # Leaves the group before what follows does.
            e = R.exp(a)
            b = cls.add(a, y)
            c = cls.relu(b, R.shape([m]))
            d = cls.add(c, a)
            # Two more groups of that name, which differ.
            f = cls.relu(e, R.shape([m]))
            g = R.exp(f)
            h = cls.add(g, g)
            i = R.exp(h)
            j = cls.add(i, g)
            R.output(d, j)
        return (d, j)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def fused_add1_dnnl(i: R.Tensor((m, 4), dtype="float32"), g: R.Tensor((m, 4), dtype="float32")) -> R.Tensor((m, 4), dtype="float32"):
        R.func_attr({"Codegen": "dnnl"})
        n = TypeVar("n")
        @R.function
        def add(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((n, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.add"})
            with R.dataflow():
                gv: R.Tensor((n, 4), dtype="float32") = R.add(x, y)
                R.output(gv)
            return gv

        j: R.Tensor((m, 4), dtype="float32") = add(i, g)
        return j

    @R.function
    def fused_add_dnnl(g: R.Tensor((m, 4), dtype="float32")) -> R.Tensor((m, 4), dtype="float32"):
        R.func_attr({"Codegen": "dnnl"})
        n = TypeVar("n")
        @R.function
        def add(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((n, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.add"})
            with R.dataflow():
                gv: R.Tensor((n, 4), dtype="float32") = R.add(x, y)
                R.output(gv)
            return gv

        h: R.Tensor((m, 4), dtype="float32") = add(g, g)
        return h

    @R.function
    def fused_relu_add_relu_add_dnnl(x: R.Tensor((m, 4), dtype="float32"), param_0: R.Shape([m]), y: R.Tensor((m, 4), dtype="float32"), param_1: R.Shape([m])) -> R.Tuple(R.Tensor((m, 4), dtype="float32"), R.Tensor((m, 4), dtype="float32")):
        R.func_attr({"Codegen": "dnnl"})
        n = TypeVar("n")
        @R.function
        def relu(x_1: R.Tensor((n, 4), dtype="float32"), s: R.Shape([n])) -> R.Tensor((n, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.relu"})
            with R.dataflow():
                gv: R.Tensor((n, 4), dtype="float32") = R.nn.relu(x_1)
                R.output(gv)
            return gv

        a: R.Tensor((m, 4), dtype="float32") = relu(x, param_0)
        n = TypeVar("n")
        @R.function
        def add(x_1: R.Tensor((n, 4), dtype="float32"), y_1: R.Tensor((n, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.add"})
            with R.dataflow():
                gv: R.Tensor((n, 4), dtype="float32") = R.add(x_1, y_1)
                R.output(gv)
            return gv

        b: R.Tensor((m, 4), dtype="float32") = add(a, y)
        c: R.Tensor((m, 4), dtype="float32") = relu(b, param_1)
        d: R.Tensor((m, 4), dtype="float32") = add(c, a)
        return (d, a)

    @R.function
    def fused_relu_dnnl(e: R.Tensor((m, 4), dtype="float32"), param_0: R.Shape([m])) -> R.Tensor((m, 4), dtype="float32"):
        R.func_attr({"Codegen": "dnnl"})
        n = TypeVar("n")
        @R.function
        def relu(x: R.Tensor((n, 4), dtype="float32"), s: R.Shape([n])) -> R.Tensor((n, 4), dtype="float32"):
            R.func_attr({"Composite": "dnnl.relu"})
            with R.dataflow():
                gv: R.Tensor((n, 4), dtype="float32") = R.nn.relu(x)
                R.output(gv)
            return gv

        f: R.Tensor((m, 4), dtype="float32") = relu(e, param_0)
        return f

    @R.function
    def main(x: R.Tensor((m, 4), dtype="float32"), y: R.Tensor((m, 4), dtype="float32")) -> R.Tuple(R.Tensor((m, 4), dtype="float32"), R.Tensor((m, 4), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((m, 4), dtype="float32"), R.Tensor((m, 4), dtype="float32")) = cls.fused_relu_add_relu_add_dnnl(x, R.shape([m]), y, R.shape([m]))
            a: R.Tensor((m, 4), dtype="float32") = lv[1]
            d: R.Tensor((m, 4), dtype="float32") = lv[0]
            e: R.Tensor((m, 4), dtype="float32") = R.exp(a)
            f: R.Tensor((m, 4), dtype="float32") = cls.fused_relu_dnnl(e, R.shape([m]))
            g: R.Tensor((m, 4), dtype="float32") = R.exp(f)
            h: R.Tensor((m, 4), dtype="float32") = cls.fused_add_dnnl(g)
            i: R.Tensor((m, 4), dtype="float32") = R.exp(h)
            j: R.Tensor((m, 4), dtype="float32") = cls.fused_add1_dnnl(i, g)
            R.output(d, j)
        return (d, j)
