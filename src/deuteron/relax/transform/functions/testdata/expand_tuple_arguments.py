# run: ExpandTupleArguments
@I.ir_module
class Module:
    @R.function(private=True)
    def helper(p: R.Tuple(R.Tensor((2, 3), "float32"), R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32"))), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        a = p[0]
        b = p[1]
        c = b[1]
        d = R.add(a, c)
        e = R.add(d, y)
        return e

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), q: R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32"))) -> R.Tensor((2, 3), "float32"):
        cls = Module
        a = cls.helper((x, q), x)
        b = cls.helper((a, (x, a)), x)
        return b
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def helper(p_0: R.Tensor((2, 3), dtype="float32"), p_1_0: R.Tensor((2, 3), dtype="float32"), p_1_1: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        d: R.Tensor((2, 3), dtype="float32") = R.add(p_0, p_1_1)
        e: R.Tensor((2, 3), dtype="float32") = R.add(d, y)
        return e

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), q: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"))) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        gv: R.Tensor((2, 3), dtype="float32") = q[0]
        gv_1: R.Tensor((2, 3), dtype="float32") = q[1]
        a: R.Tensor((2, 3), dtype="float32") = cls.helper(x, gv, gv_1, x)
        b: R.Tensor((2, 3), dtype="float32") = cls.helper(a, x, a, x)
        return b
