# run: CheckExtents
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 5), "float32"), i: R.Tensor(("a", "b"), "int64"), u: R.Tensor(("c", "d"), "float32")):
        with R.dataflow():
            taken = R.gather_elements(x, i, axis=1)
            put = R.scatter_elements(x, i, u, axis=1)
            R.output(taken, put)
        return (taken, put)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
a = TypeVar("a")
b = TypeVar("b")
c = TypeVar("c")
d = TypeVar("d")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 5), dtype="float32"), i: R.Tensor((a, b), dtype="int64"), u: R.Tensor((c, d), dtype="float32")) -> R.Tuple(R.Tensor((a, b), dtype="float32"), R.Tensor((n, 5), dtype="float32")):
        with R.dataflow():
            argument_1_of_gather_elements: R.Tensor((T.min(a, n), b), dtype="int64") = R.match_cast(i, R.Tensor((T.min(a, n), b), dtype="int64"))
            argument_1_of_gather_elements_1: R.Tensor((a, b), dtype="int64") = R.match_cast(argument_1_of_gather_elements, R.Tensor((a, b), dtype="int64"))
            taken: R.Tensor((a, b), dtype="float32") = R.gather_elements(x, argument_1_of_gather_elements_1, axis=1)
            argument_1_of_scatter_elements: R.Tensor((T.min(a, n), b), dtype="int64") = R.match_cast(i, R.Tensor((T.min(a, n), b), dtype="int64"))
            argument_1_of_scatter_elements_1: R.Tensor((a, b), dtype="int64") = R.match_cast(argument_1_of_scatter_elements, R.Tensor((a, b), dtype="int64"))
            argument_2_of_scatter_elements: R.Tensor((a, b), dtype="float32") = R.match_cast(u, R.Tensor((a, b), dtype="float32"))
            put: R.Tensor((n, 5), dtype="float32") = R.scatter_elements(x, argument_1_of_scatter_elements_1, argument_2_of_scatter_elements, axis=1, reduction="update")
            R.output(taken, put)
        return (taken, put)
