# run: ExpandTupleArguments
@I.ir_module
class Module:
    @R.function(private=True)
    def helper(p: R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32"))) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = p[0]
            b = R.exp(a)
            c = (b, p[1])
            R.output(c)
        return c

    @R.function
    def main(p: R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32"))) -> R.Tensor((2, 3), "float32"):
        cls = Module
        with R.dataflow():
            a = cls.helper(p)
            b = cls.helper(a)
            c = b[1]
            R.output(c)
        return c
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def helper(p_0: R.Tensor((2, 3), dtype="float32"), p_1: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            b: R.Tensor((2, 3), dtype="float32") = R.exp(p_0)
            c: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = b, p_1
            R.output(c)
        return c

    @R.function
    def main(p: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"))) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv: R.Tensor((2, 3), dtype="float32") = p[0]
            lv_1: R.Tensor((2, 3), dtype="float32") = p[1]
            a: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = cls.helper(lv, lv_1)
            lv_2: R.Tensor((2, 3), dtype="float32") = a[0]
            lv_3: R.Tensor((2, 3), dtype="float32") = a[1]
            b: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = cls.helper(lv_2, lv_3)
            c: R.Tensor((2, 3), dtype="float32") = b[1]
            R.output(c)
        return c
