# run: InlinePrivateFunctions
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), z: R.Tensor(("m", 3), "float32")):
        cls = Module
        a = cls.f(x)
        b = cls.f(z)
        return (a, b)
    @R.function(private=True)
    def f(y: R.Tensor(("n", 3), "float32")) -> R.Tensor((3, "n"), "float32"):
        n = T.int64()
        k = T.int64()
        w = R.match_cast(y, R.Tensor((n, k), "float32"))
        s = R.shape([k, n])
        with R.dataflow():
           u = R.reshape(w, s)
           v = R.add(u, u)
           R.output(v)
        q = R.match_cast(v, R.Tensor((3, n), "float32"))
        return q
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), z: R.Tensor((m, 3), dtype="float32")) -> R.Tuple(R.Tensor((3, 2), dtype="float32"), R.Tensor((3, m), dtype="float32")):
        s: R.Shape([3, 2]) = R.shape([3, 2])
        with R.dataflow():
            u: R.Tensor((3, 2), dtype="float32") = R.reshape(x, s)
            v: R.Tensor((3, 2), dtype="float32") = R.add(u, u)
            R.output(v)
        s_1: R.Shape([3, m]) = R.shape([3, m])
        with R.dataflow():
            u_1: R.Tensor((3, m), dtype="float32") = R.reshape(z, s_1)
            v_1: R.Tensor((3, m), dtype="float32") = R.add(u_1, u_1)
            R.output(v_1)
        return (v, v_1)
