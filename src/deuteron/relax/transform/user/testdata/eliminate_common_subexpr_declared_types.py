# run: EliminateCommonSubexpr
# Values declared with different types stay apart.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a: R.Tensor(ndim=2, dtype="float32") = R.add(x, y)
            b = R.add(x, y)
            c: R.Tensor(ndim=2, dtype="float32") = R.add(x, y)
            q = R.add(a, b)
            q2 = R.add(a, c)
            R.output(q, q2)
        return (q, q2)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor(dtype="float32", ndim=2)):
        with R.dataflow():
            a: R.Tensor(dtype="float32", ndim=2) = R.add(x, y)
            b: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
            c: R.Tensor(dtype="float32", ndim=2) = a
            q: R.Tensor(dtype="float32", ndim=2) = R.add(a, b)
            q2: R.Tensor(dtype="float32", ndim=2) = R.add(a, a)
            R.output(q, q2)
        return (q, q2)
