# run: ExpandTupleArguments
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), t: R.Tuple(R.Tensor((2, 3), "float32"), R.Tuple(R.Tensor((2, 3), "float32")))):
        cls = Module
        with R.dataflow():
            u = (x, x)
            a = cls.f(u, x)
            b = cls.g(t)
            c = cls.h(t, x)
            R.output(a, b, c)
        return (a, b, c)
    @R.function(private=True)
    def f(p: R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = p[0]
            b = p[1]
            c = R.add(a, b)
            R.output(c)
        return c
    @R.function(private=True)
    def g(p: R.Tuple(R.Tensor((2, 3), "float32"), R.Tuple(R.Tensor((2, 3), "float32")))) -> R.Tensor((2, 3), "float32"):
        a = p[0]
        q = p[1]
        b = q[0]
        c = R.add(a, b)
        return c
    @R.function(private=True)
    def h(p: R.Tuple(R.Tensor((2, 3), "float32"), R.Tuple(R.Tensor((2, 3), "float32"))), z: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tuple(R.Tensor((2, 3), "float32"))):
        return p
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f(p_0: R.Tensor((2, 3), dtype="float32"), p_1: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            c: R.Tensor((2, 3), dtype="float32") = R.add(p_0, p_1)
            R.output(c)
        return c

    @R.function(private=True)
    def g(p_0: R.Tensor((2, 3), dtype="float32"), p_1_0: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        q: R.Tuple(R.Tensor((2, 3), dtype="float32")) = (p_1_0,)
        c: R.Tensor((2, 3), dtype="float32") = R.add(p_0, p_1_0)
        return c

    @R.function(private=True)
    def h(p_0: R.Tensor((2, 3), dtype="float32"), p_1_0: R.Tensor((2, 3), dtype="float32"), z: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tuple(R.Tensor((2, 3), dtype="float32"))):
        return (p_0, (p_1_0,))

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), t: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tuple(R.Tensor((2, 3), dtype="float32")))) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tuple(R.Tensor((2, 3), dtype="float32")))):
        cls = Module
        with R.dataflow():
            u: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = x, x
            a: R.Tensor((2, 3), dtype="float32") = cls.f(x, x, x)
            lv: R.Tensor((2, 3), dtype="float32") = t[0]
            lv_1: R.Tuple(R.Tensor((2, 3), dtype="float32")) = t[1]
            lv_2: R.Tensor((2, 3), dtype="float32") = lv_1[0]
            b: R.Tensor((2, 3), dtype="float32") = cls.g(lv, lv_2)
            lv_3: R.Tensor((2, 3), dtype="float32") = t[0]
            lv_4: R.Tuple(R.Tensor((2, 3), dtype="float32")) = t[1]
            lv_5: R.Tensor((2, 3), dtype="float32") = lv_4[0]
            c: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tuple(R.Tensor((2, 3), dtype="float32"))) = cls.h(lv_3, lv_5, x)
            R.output(a, b, c)
        return (a, b, c)
