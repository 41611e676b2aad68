# run: CheckExtents
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), s: R.Shape(["k"]), v: R.Tensor(("n",), "float32")):
        k = T.int64()
        with R.dataflow():
            # The numbers of elements are equal whatever n and m are.
            flat = R.reshape(x, R.shape([n * m]))
            swapped = R.reshape(x, R.shape([m, n, 1]))
            # They are equal only if the caller sees to it.
            rows = R.reshape(x, R.shape([k, 4]))
            divided = R.reshape(x, R.shape([-1, 8]))
            column = R.reshape(v, R.shape([k, 1]))
            R.output(flat, swapped, rows, divided, column)
        return (flat, swapped, rows, divided, column)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
k = TypeVar("k")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, m), dtype="float32"), s: R.Shape([k]), v: R.Tensor((n,), dtype="float32")) -> R.Tuple(R.Tensor(("n * m",), dtype="float32"), R.Tensor((m, n, 1), dtype="float32"), R.Tensor((k, 4), dtype="float32"), R.Tensor(("n * m // 8", 8), dtype="float32"), R.Tensor((k, 1), dtype="float32")):
        with R.dataflow():
            flat: R.Tensor((n * m,), dtype="float32") = R.reshape(x, R.shape([n * m]))
            swapped: R.Tensor((m, n, 1), dtype="float32") = R.reshape(x, R.shape([m, n, 1]))
            elements: R.Tensor((n * m,), dtype="float32") = R.flatten(x)
            argument_0_of_reshape: R.Tensor((4 * k,), dtype="float32") = R.match_cast(elements, R.Tensor((4 * k,), dtype="float32"))
            rows: R.Tensor((k, 4), dtype="float32") = R.reshape(argument_0_of_reshape, R.shape([k, 4]))
            elements_1: R.Tensor((n * m,), dtype="float32") = R.flatten(x)
            argument_0_of_reshape_1: R.Tensor((8 * (n * m // 8),), dtype="float32") = R.match_cast(elements_1, R.Tensor((8 * (n * m // 8),), dtype="float32"))
            divided: R.Tensor((n * m // 8, 8), dtype="float32") = R.reshape(argument_0_of_reshape_1, R.shape([-1, 8]))
            argument_0_of_reshape_2: R.Tensor((k,), dtype="float32") = R.match_cast(v, R.Tensor((k,), dtype="float32"))
            column: R.Tensor((k, 1), dtype="float32") = R.reshape(argument_0_of_reshape_2, R.shape([k, 1]))
            R.output(flat, swapped, rows, divided, column)
        return (flat, swapped, rows, divided, column)
