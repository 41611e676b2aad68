# run: BindSymbolicVars(binding_map={n: 4, m: 0})
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n=T.int64()
        m=T.int64()
        with R.dataflow():
            a = R.add(x, x)
            q = R.reshape(a, R.shape([m, n]))
            r = R.full(R.shape([n * m + 1]), R.const(1.0, "float32"), dtype="float32")
            R.output(q, r)
        return (q, r, R.prim_value(n + 1))
    @R.function
    def other(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 3), "float32")):
        return R.matmul(x, w)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def other(x: R.Tensor((4, 3), dtype="float32"), w: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((4, 3), dtype="float32"):
        gv: R.Tensor((4, 3), dtype="float32") = R.matmul(x, w, out_dtype=None)
        return gv

    @R.function
    def main(x: R.Tensor((4, 0), dtype="float32")) -> R.Tuple(R.Tensor((0, 4), dtype="float32"), R.Tensor((1,), dtype="float32"), T.int64):
        with R.dataflow():
            a: R.Tensor((4, 0), dtype="float32") = R.add(x, x)
            q: R.Tensor((0, 4), dtype="float32") = R.reshape(a, R.shape([0, 4]))
            r: R.Tensor((1,), dtype="float32") = R.full(R.shape([1]), R.const(1.0, "float32"), dtype="float32")
            R.output(q, r)
        return (q, r, 5)
