# run: FuseOpsByPattern(patterns=['dnnl.add = relax.multiply(_, const) + _', 'dnnl.matmul_relu = relax.nn.relu(relax.matmul(_, _))'],annotate_codegen=true,bind_constants=false)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.multiply(b, R.const(2.0, "float32"))
            d = R.add(b, c)
            R.output(d)
        return d
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def fused_relax_matmul_relax_nn_relu_dnnl(x: R.Tensor((n, 8), dtype="float32"), w: R.Tensor((8, 8), dtype="float32")) -> R.Tensor((n, 8), dtype="float32"):
        R.func_attr({"Codegen": "dnnl"})
        @R.function
        def local_func(x_1: R.Tensor((n, 8), dtype="float32"), w_1: R.Tensor((8, 8), dtype="float32")) -> R.Tensor((n, 8), dtype="float32"):
            R.func_attr({"Composite": "dnnl.matmul_relu"})
            with R.dataflow():
                a: R.Tensor((n, 8), dtype="float32") = R.matmul(x_1, w_1, out_dtype=None)
                b: R.Tensor((n, 8), dtype="float32") = R.nn.relu(a)
                R.output(b)
            return b

        output: R.Tensor((n, 8), dtype="float32") = local_func(x, w)
        return output

    @R.function
    def fused_relax_multiply_relax_add_dnnl(b: R.Tensor((n, 8), dtype="float32"), param_0: R.Tensor((), dtype="float32")) -> R.Tensor((n, 8), dtype="float32"):
        R.func_attr({"Codegen": "dnnl"})
        @R.function
        def local_func(b_1: R.Tensor((n, 8), dtype="float32"), param_0_1: R.Tensor((), dtype="float32")) -> R.Tensor((n, 8), dtype="float32"):
            R.func_attr({"Composite": "dnnl.add"})
            with R.dataflow():
                c: R.Tensor((n, 8), dtype="float32") = R.multiply(b_1, param_0_1)
                d: R.Tensor((n, 8), dtype="float32") = R.add(b_1, c)
                R.output(d)
            return d

        output: R.Tensor((n, 8), dtype="float32") = local_func(b, param_0)
        return output

    @R.function
    def main(x: R.Tensor((n, 8), dtype="float32"), w: R.Tensor((8, 8), dtype="float32")) -> R.Tensor((n, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((n, 8), dtype="float32") = cls.fused_relax_matmul_relax_nn_relu_dnnl(x, w)
            d: R.Tensor((n, 8), dtype="float32") = cls.fused_relax_multiply_relax_add_dnnl(b, R.const(2.0, "float32"))
            R.output(d)
        return d
