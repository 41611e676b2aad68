# run: Normalize
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2, 3), "float32"):
        a = R.add(R.exp(x), R.tanh(R.negative(x)))
        if c:
            b = R.exp(R.exp(a))
        else:
            b = a
        return R.add(a, b)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        gv: R.Tensor((2, 3), dtype="float32") = R.exp(x)
        gv1: R.Tensor((2, 3), dtype="float32") = R.negative(x)
        gv2: R.Tensor((2, 3), dtype="float32") = R.tanh(gv1)
        a: R.Tensor((2, 3), dtype="float32") = R.add(gv, gv2)
        if c:
            gv3: R.Tensor((2, 3), dtype="float32") = R.exp(a)
            b_then: R.Tensor((2, 3), dtype="float32") = R.exp(gv3)
            b: R.Tensor((2, 3), dtype="float32") = b_then
        else:
            b: R.Tensor((2, 3), dtype="float32") = a
        gv4: R.Tensor((2, 3), dtype="float32") = R.add(a, b)
        return gv4
