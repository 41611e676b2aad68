# run: ExpandTupleArguments
# Tuples that are results, and parameters in them.
@I.ir_module
class Module:
    @R.function(private=True)
    def made(a: R.Tensor((2,), "float32"), t: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32"))):
        b = R.add(a, t[0])
        return (b, (b, t[1]))
    @R.function(private=True)
    def given(a: R.Tensor((2,), "float32"), t: R.Tuple(R.Tensor((2,), "float32"), R.Tuple(R.Tensor((2,), "float32"))), u: R.Tuple(R.Tensor((2,), "float32"))):
        b = R.add(a, t[1][0])
        return (b, t)
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        m = Module.made(x, (x, x))
        g = Module.given(x, (x, (x,)), (x,))
        return (m, g)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def given(a: R.Tensor((2,), dtype="float32"), t_0: R.Tensor((2,), dtype="float32"), t_1_0: R.Tensor((2,), dtype="float32"), u_0: R.Tensor((2,), dtype="float32")) -> R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32")))):
        b: R.Tensor((2,), dtype="float32") = R.add(a, t_1_0)
        return (b, (t_0, (t_1_0,)))

    @R.function(private=True)
    def made(a: R.Tensor((2,), dtype="float32"), t_0: R.Tensor((2,), dtype="float32"), t_1: R.Tensor((2,), dtype="float32")) -> R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32"))):
        b: R.Tensor((2,), dtype="float32") = R.add(a, t_0)
        return (b, (b, t_1))

    @R.function
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32"))), R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32"))))):
        cls = Module
        m: R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32"))) = cls.made(x, x, x)
        g: R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32"), R.Tuple(R.Tensor((2,), dtype="float32")))) = cls.given(x, x, x, x)
        return (m, g)
