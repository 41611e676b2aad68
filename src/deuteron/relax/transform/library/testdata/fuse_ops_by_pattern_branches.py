# run: FuseOpsByPattern(patterns=['dnnl.matmul_relu = relax.nn.relu(relax.matmul(_, _))'])
# Blocks in branches are visited, plain blocks are not.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32"), c: R.Tensor((), "bool")):
        p = R.matmul(x, w)
        q = R.nn.relu(p)
        if c:
            with R.dataflow():
                a = R.matmul(q, w)
                b = R.nn.relu(a)
                R.output(b)
            r = b
        else:
            with R.dataflow():
                a = R.matmul(x, w)
                R.output(a)
            with R.dataflow():
                b = R.nn.relu(a)
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
    @R.function(private=True)
    def fused_relax_matmul_relax_nn_relu(q: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.matmul_relu", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.matmul(q, w, out_dtype=None)
            b: R.Tensor((4, 4), dtype="float32") = R.nn.relu(a)
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        p: R.Tensor((4, 4), dtype="float32") = R.matmul(x, w, out_dtype=None)
        q: R.Tensor((4, 4), dtype="float32") = R.nn.relu(p)
        if c:
            with R.dataflow():
                b: R.Tensor((4, 4), dtype="float32") = cls.fused_relax_matmul_relax_nn_relu(q, w)
                R.output(b)
            r: R.Tensor((4, 4), dtype="float32") = b
        else:
            with R.dataflow():
                a: R.Tensor((4, 4), dtype="float32") = R.matmul(x, w, out_dtype=None)
                R.output(a)
            with R.dataflow():
                b: R.Tensor((4, 4), dtype="float32") = R.nn.relu(a)
                R.output(b)
            r: R.Tensor((4, 4), dtype="float32") = b
        return r
