# run: FuseOpsByPattern(patterns=['dnnl.product = relax.nn.relu(relax.matmul(_, _))'])
# A match_cast that only checks a symbol of the parameters defines nothing: what comes before it need not wait for it.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.match_cast(b, R.Tensor((n, 4), "float32"))
            d = R.matmul(c, w)
            e = R.nn.relu(d)
            R.output(e)
        return e
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_matmul_relax_nn_relu(x: R.Tensor((n, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
        R.func_attr({"Composite": "dnnl.product", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((n, 4), dtype="float32") = R.matmul(x, w, out_dtype=None)
            b: R.Tensor((n, 4), dtype="float32") = R.nn.relu(a)
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((n, 4), dtype="float32") = cls.fused_relax_matmul_relax_nn_relu(x, w)
            c: R.Tensor((n, 4), dtype="float32") = R.match_cast(b, R.Tensor((n, 4), dtype="float32"))
            e: R.Tensor((n, 4), dtype="float32") = cls.fused_relax_matmul_relax_nn_relu(c, w)
            R.output(e)
        return e
