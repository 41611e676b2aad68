# run:
# A name above the class means one symbol in all of the module; signatures name parameters that come later in quotes.
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def later(hx: T.handle, hy: T.handle, n: T.int64, hz: T.handle, m: T.int32):
        x = T.match_buffer(hx, (n, m), "float16")
        y = T.match_buffer(hy, (n * T.int64(2) + T.int64(1),), "float16")
        z = T.match_buffer(hz, (n, n + T.int64(1)), "float16")
        for i in range(n):
            x[i, 0] = y[i] + z[i, 0]

    @R.function
    def first(x: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor(ndim=1, dtype="float32"):
        q = T.int64()
        y = R.match_cast(x, R.Tensor((q,), "float32"))
        return y

    @R.function
    def second(x: R.Tensor((k,), "float32"), y: R.Tensor(("q", "q * 2"), "float32")):
        return x

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor(ndim=1, dtype="float32"):
        k = T.int64()
        y = R.match_cast(x, R.Tensor((k,), "float32"))
        n = TypeVar("n")

        @R.function
        def inner(a: R.Tensor((n, n + 1), "float32"), b: R.Tensor(("j", "j * 2"), "float32")):
            return (a, b)

        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

k = TypeVar("k")
q_1 = TypeVar("q_1")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def later(x: T.Buffer(("n", "m"), "float16"), y: T.Buffer(("n * T.int64(2) + T.int64(1)",), "float16"), n: T.int64, z: T.Buffer((n, n + T.int64(1)), "float16"), m: T.int32):
        # with T.sblock("root"):
        for i in range(n):
            x[i, 0] = y[i] + z[i, 0]

    @R.function
    def first(x: R.Tensor(dtype="float32", ndim=1)) -> R.Tensor(dtype="float32", ndim=1):
        q = T.int64()
        y: R.Tensor((q,), dtype="float32") = R.match_cast(x, R.Tensor((q,), dtype="float32"))
        return y

    @R.function
    def second(x: R.Tensor((k,), dtype="float32"), y: R.Tensor((q_1, "q_1 * 2"), dtype="float32")) -> R.Tensor((k,), dtype="float32"):
        return x

    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=1)) -> R.Tensor(dtype="float32", ndim=1):
        k_1 = T.int64()
        y: R.Tensor((k_1,), dtype="float32") = R.match_cast(x, R.Tensor((k_1,), dtype="float32"))
        n = TypeVar("n")
        j = TypeVar("j")
        @R.function
        def inner(a: R.Tensor((n, n + 1), dtype="float32"), b: R.Tensor((j, j * 2), dtype="float32")) -> R.Tuple(R.Tensor((n, n + 1), dtype="float32"), R.Tensor((j, j * 2), dtype="float32")):
            return (a, b)

        return y
