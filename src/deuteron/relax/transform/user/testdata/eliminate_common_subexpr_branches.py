# run: EliminateCommonSubexpr
# Branches see what is computed before them; nothing leaves them.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        s = R.add(x, y)
        if c:
            a = R.add(x, y)
            b = R.multiply(x, y)
            d = R.multiply(x, y)
            r = R.add(b, d)
        else:
            e = R.multiply(x, y)
            r = R.add(e, s)
        z = R.multiply(x, y)
        q = R.add(z, r)
        return q
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        s: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
        if c:
            a: R.Tensor((2, 3), dtype="float32") = s
            b: R.Tensor((2, 3), dtype="float32") = R.multiply(x, y)
            d: R.Tensor((2, 3), dtype="float32") = b
            r_then: R.Tensor((2, 3), dtype="float32") = R.add(b, b)
            r: R.Tensor((2, 3), dtype="float32") = r_then
        else:
            e: R.Tensor((2, 3), dtype="float32") = R.multiply(x, y)
            r_else: R.Tensor((2, 3), dtype="float32") = R.add(e, s)
            r: R.Tensor((2, 3), dtype="float32") = r_else
        z: R.Tensor((2, 3), dtype="float32") = R.multiply(x, y)
        q: R.Tensor((2, 3), dtype="float32") = R.add(z, r)
        return q
