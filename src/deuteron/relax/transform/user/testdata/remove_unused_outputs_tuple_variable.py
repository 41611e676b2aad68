# run: RemoveUnusedOutputs
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.f(x)
            b = a[0]
            d = a[2]
            e = cls.f(b)
            f = e[2]
            R.output(d, f)
        return (d, f)
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.multiply(y, y)
            b = R.add(y, y)
            c = R.exp(b)
            t = (a, b, c)
            R.output(t)
        return t
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            gv: R.Tensor((2, 3), dtype="float32") = R.multiply(y, y)
            b: R.Tensor((2, 3), dtype="float32") = R.add(y, y)
            gv_1: R.Tensor((2, 3), dtype="float32") = R.exp(b)
            R.output(gv, gv_1)
        return (gv, gv_1)

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        cls = Module
        with R.dataflow():
            a: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = cls.f(x)
            b: R.Tensor((2, 3), dtype="float32") = a[0]
            d: R.Tensor((2, 3), dtype="float32") = a[1]
            e: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = cls.f(b)
            f: R.Tensor((2, 3), dtype="float32") = e[1]
            R.output(d, f)
        return (d, f)
