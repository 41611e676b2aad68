# run: LambdaLift
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def rec(i: R.Tensor((), "int32"), s: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            cond: R.Tensor((), "bool") = R.less(i, R.const(10, "int32"))
            if cond:
                j = R.add(i, R.const(1, "int32"))
                r: R.Tensor((2, 3), "float32") = rec(j, R.add(s, y))
            else:
                r = s
            return r
        e = rec(R.const(0, "int32"), x)
        return e
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def main_rec(i: R.Tensor((), dtype="int32"), s: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        cond: R.Tensor((), dtype="bool") = R.less(i, R.const(10, "int32"))
        if cond:
            j: R.Tensor((), dtype="int32") = R.add(i, R.const(1, "int32"))
            gv: R.Tensor((2, 3), dtype="float32") = R.add(s, y)
            r_then: R.Tensor((2, 3), dtype="float32") = cls.main_rec(j, gv, y)
            r: R.Tensor((2, 3), dtype="float32") = r_then
        else:
            r: R.Tensor((2, 3), dtype="float32") = s
        return r

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        e: R.Tensor((2, 3), dtype="float32") = cls.main_rec(R.const(0, "int32"), x, y)
        return e
