# run: ConvertToDataflow
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        a = R.add(x, x)
        b = R.exp(a)
        c = R.call_packed("effect", b, ty_args=R.Tensor((4,), "float32"))
        d = R.exp(c)
        e = R.call_packed("effect", d, ty_args=R.Tensor((4,), "float32"))
        f = R.exp(e)
        g = R.tanh(f)
        return g
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.add(x, x)
            b: R.Tensor((4,), dtype="float32") = R.exp(a)
            R.output(b)
        c: R.Tensor((4,), dtype="float32") = R.call_packed("effect", b, ty_args=(R.Tensor((4,), dtype="float32"),))
        d: R.Tensor((4,), dtype="float32") = R.exp(c)
        e: R.Tensor((4,), dtype="float32") = R.call_packed("effect", d, ty_args=(R.Tensor((4,), dtype="float32"),))
        with R.dataflow():
            f: R.Tensor((4,), dtype="float32") = R.exp(e)
            g: R.Tensor((4,), dtype="float32") = R.tanh(f)
            R.output(g)
        return g
