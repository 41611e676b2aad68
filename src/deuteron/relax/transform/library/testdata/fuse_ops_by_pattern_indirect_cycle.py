# run: FuseOpsByPattern(patterns=['dnnl.block = relax.nn.relu(relax.matmul(_, _)) + _'])
# expect-remark: FuseOpsByPattern d -> dnnl.block: pattern-cycle
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.nn.gelu(a)
            t = R.tanh(c)
            d = R.add(b, t)
            R.output(d)
        return d
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4, 4), dtype="float32") = R.matmul(x, w, out_dtype=None)
            b: R.Tensor((4, 4), dtype="float32") = R.nn.relu(a)
            c: R.Tensor((4, 4), dtype="float32") = R.nn.gelu(a)
            t: R.Tensor((4, 4), dtype="float32") = R.tanh(c)
            d: R.Tensor((4, 4), dtype="float32") = R.add(b, t)
            R.output(d)
        return d
