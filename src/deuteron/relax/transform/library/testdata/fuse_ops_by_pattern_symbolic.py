# run: FuseOpsByPattern(patterns=['dnnl.reshape_relu = relax.nn.relu(relax.reshape(_, _))', 'dnnl.zeros = relax.zeros(_)'])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), k: R.Shape(["k"])):
        n = T.int64()
        m = T.int64()
        k_1 = T.int64()
        with R.dataflow():
            a = R.reshape(x, R.shape([m, n]))
            b = R.nn.relu(a)
            y = R.match_cast(b, R.Tensor(("p", "q"), "float32"))
            z = R.reshape(y, R.shape([p * q]))
            r = R.nn.relu(z)
            R.output(r)
        return r
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
p = TypeVar("p")
q = TypeVar("q")
k_1 = TypeVar("k_1")
@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_reshape_relax_nn_relu(x: R.Tensor((n, m), dtype="float32"), param_0: R.Shape([m, n])) -> R.Tensor((m, n), dtype="float32"):
        R.func_attr({"Composite": "dnnl.reshape_relu", "Primitive": True})
        with R.dataflow():
            a: R.Tensor((m, n), dtype="float32") = R.reshape(x, param_0)
            b: R.Tensor((m, n), dtype="float32") = R.nn.relu(a)
            R.output(b)
        return b

    @R.function(private=True)
    def fused_relax_reshape_relax_nn_relu1(y: R.Tensor((p, q), dtype="float32"), param_0: R.Shape(["p * q"])) -> R.Tensor(("p * q",), dtype="float32"):
        R.func_attr({"Composite": "dnnl.reshape_relu", "Primitive": True})
        with R.dataflow():
            z: R.Tensor((p * q,), dtype="float32") = R.reshape(y, param_0)
            r: R.Tensor((p * q,), dtype="float32") = R.nn.relu(z)
            R.output(r)
        return r

    @R.function
    def main(x: R.Tensor((n, m), dtype="float32"), k: R.Shape([k_1])) -> R.Tensor(dtype="float32", ndim=1):
        p_1 = T.int64()
        q_1 = T.int64()
        cls = Module
        with R.dataflow():
            b: R.Tensor((m, n), dtype="float32") = cls.fused_relax_reshape_relax_nn_relu(x, R.shape([m, n]))
            y: R.Tensor((p_1, q_1), dtype="float32") = R.match_cast(b, R.Tensor((p_1, q_1), dtype="float32"))
            r: R.Tensor((p_1 * q_1,), dtype="float32") = cls.fused_relax_reshape_relax_nn_relu1(y, R.shape([p_1 * q_1]))
            R.output(r)
        return r
