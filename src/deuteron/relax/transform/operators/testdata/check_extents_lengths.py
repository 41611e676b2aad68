# run: CheckExtents
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"), c: R.Tensor((), "bool"), s: R.Tensor((1,), "int64")):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        with R.dataflow():
            # Once for each extent, and not where none can be negative.
            a = R.full(R.shape([n - 10, n - 10]), R.const(1, "float32"), dtype="float32")
            b = R.exp(a)
            d = R.full(R.shape([T.max(n - 3, 0), n + m]), R.const(1, "float32"), dtype="float32")
            e = R.full(R.shape([n // 2 - n // 4]), R.const(1, "float32"), dtype="float32")
            # What only the run tells is asked where it is told.
            t: R.Shape([k]) = R.match_cast(R.tensor_to_shape(s), R.Shape([k]))
            f = R.full(R.shape([k - 1]), R.const(1, "float32"), dtype="float32")
            R.output(b, d, e, f)
        # What a branch makes is asked in the branch.
        if c:
            g = R.full(R.shape([m - 5]), R.const(1, "float32"), dtype="float32")
            h = R.sum(g)
        else:
            h = R.sum(y)
        return (b, d, e, f, h)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n,), dtype="float32"), y: R.Tensor((m,), dtype="float32"), c: R.Tensor((), dtype="bool"), s: R.Tensor((1,), dtype="int64")) -> R.Tuple(R.Tensor(("n - 10", "n - 10"), dtype="float32"), R.Tensor(("T.max(n - 3, 0)", "n + m"), dtype="float32"), R.Tensor(("n // 2 - n // 4",), dtype="float32"), R.Tensor(dtype="float32", ndim=1), R.Tensor((), dtype="float32")):
        k = T.int64()
        the_shape_of_its_result: R.Shape([T.max(n - 10, 0)]) = R.match_cast(R.shape([n - 10]), R.Shape([T.max(n - 10, 0)]))
        with R.dataflow():
            a: R.Tensor((n - 10, n - 10), dtype="float32") = R.full(R.shape([n - 10, n - 10]), R.const(1.0, "float32"), dtype="float32")
            b: R.Tensor((n - 10, n - 10), dtype="float32") = R.exp(a)
            d: R.Tensor((T.max(n - 3, 0), n + m), dtype="float32") = R.full(R.shape([T.max(n - 3, 0), n + m]), R.const(1.0, "float32"), dtype="float32")
            e: R.Tensor((n // 2 - n // 4,), dtype="float32") = R.full(R.shape([n // 2 - n // 4]), R.const(1.0, "float32"), dtype="float32")
            lv: R.Shape(ndim=1) = R.tensor_to_shape(s)
            t: R.Shape([k]) = R.match_cast(lv, R.Shape([k]))
            the_shape_of_its_result_1: R.Shape([T.max(k - 1, 0)]) = R.match_cast(R.shape([k - 1]), R.Shape([T.max(k - 1, 0)]))
            f: R.Tensor((k - 1,), dtype="float32") = R.full(R.shape([k - 1]), R.const(1.0, "float32"), dtype="float32")
            R.output(b, d, e, f)
        if c:
            the_shape_of_its_result_2: R.Shape([T.max(m - 5, 0)]) = R.match_cast(R.shape([m - 5]), R.Shape([T.max(m - 5, 0)]))
            g: R.Tensor((m - 5,), dtype="float32") = R.full(R.shape([m - 5]), R.const(1.0, "float32"), dtype="float32")
            h_then: R.Tensor((), dtype="float32") = R.sum(g, axis=None, keepdims=False)
            h: R.Tensor((), dtype="float32") = h_then
        else:
            h_else: R.Tensor((), dtype="float32") = R.sum(y, axis=None, keepdims=False)
            h: R.Tensor((), dtype="float32") = h_else
        return (b, d, e, f, h)
