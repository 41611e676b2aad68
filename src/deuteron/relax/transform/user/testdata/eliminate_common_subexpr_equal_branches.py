# run: EliminateCommonSubexpr
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        if c:
            r = R.add(x, x)
        else:
            r = R.exp(x)
        if c:
            s = R.add(x, x)
        else:
            s = R.exp(x)
        return (r, s)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        if c:
            r_then: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
            r: R.Tensor((2, 3), dtype="float32") = r_then
        else:
            r_else: R.Tensor((2, 3), dtype="float32") = R.exp(x)
            r: R.Tensor((2, 3), dtype="float32") = r_else
        s: R.Tensor((2, 3), dtype="float32") = r
        return (r, r)
