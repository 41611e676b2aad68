# run: InlinePrivateFunctions
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        cls = Module
        with R.dataflow():
            a = R.add(x, x)
            b = cls.f(a)
            c = cls.f(b)
            d = R.exp(c)
            R.output(d)
        return d
    @R.function(private=True)
    def f(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = Module
        with R.dataflow():
            a = R.multiply(y, y)
            b = cls.g(a)
            R.output(b)
        return b
    @R.function(private=True)
    def g(y: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        n = T.int64()
        a = R.add(y, R.zeros(R.shape([n, 3]), "float32"))
        return a
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
            a_1: R.Tensor((2, 3), dtype="float32") = R.multiply(a, a)
            R.output(a_1)
        gv: R.Tensor((2, 3), dtype="float32") = R.zeros(R.shape([2, 3]), dtype="float32")
        a_2: R.Tensor((2, 3), dtype="float32") = R.add(a_1, gv)
        with R.dataflow():
            a_3: R.Tensor((2, 3), dtype="float32") = R.multiply(a_2, a_2)
            R.output(a_3)
        gv_1: R.Tensor((2, 3), dtype="float32") = R.zeros(R.shape([2, 3]), dtype="float32")
        a_4: R.Tensor((2, 3), dtype="float32") = R.add(a_3, gv_1)
        with R.dataflow():
            d: R.Tensor((2, 3), dtype="float32") = R.exp(a_4)
            R.output(d)
        return d
