# run: BindParams(func_name=main, params="$HERE/bind_params")
# Symbols that the weights fix become numbers, also in the types of what follows; a scalar is a literal.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, "k"), "float32"), w: R.Tensor(("k", "n"), "float32"), scale: R.Tensor((), "float32")):
        k = T.int64()
        n = T.int64()
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.multiply(a, scale)
            c = R.reshape(b, R.shape([4 * n]))
            R.output(c)
        return c

    @R.function
    def other(w: R.Tensor((2, 3), "float32")):
        return w
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def other(w: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        return w

    @R.function
    def main(x: R.Tensor((4, 2), dtype="float32")) -> R.Tensor((12,), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4, 3), dtype="float32") = R.matmul(x, metadata["ir.GenericConst"][0], out_dtype=None)
            b: R.Tensor((4, 3), dtype="float32") = R.multiply(a, R.const(2.0, "float32"))
            c: R.Tensor((12,), dtype="float32") = R.reshape(b, R.shape([12]))
            R.output(c)
        return c

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 3], "data": "AAAAAAAAgD4AAAA/AABAPwAAgD8AAKA/"},
]}
