# run: DotProducts
# config: tvm_compat=true
# expect: no changes
@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor((1, 8), "float32"), w: R.Tensor(("n", 8), "float32"), q: R.Tensor((2, 3, 1, 8), "float32"),
             k: R.Tensor((2, "t", 3, 8), "float32"), v: R.Tensor((8,), "float16"), m: R.Tensor((5, 8), "float16")):
        n = T.int64()
        t = T.int64()
        with R.dataflow():
            b = R.permute_dims(w)
            x = R.matmul(a, b)
            c = R.permute_dims(k, axes=[0, 2, 3, 1])
            y = R.matmul(q, c)
            d = R.permute_dims(m)
            z = R.matmul(v, d)
            R.output(x, y, z)
        return (x, y, z)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
t = TypeVar("t")
@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor((1, 8), dtype="float32"), w: R.Tensor((n, 8), dtype="float32"), q: R.Tensor((2, 3, 1, 8), dtype="float32"), k: R.Tensor((2, t, 3, 8), dtype="float32"), v: R.Tensor((8,), dtype="float16"), m: R.Tensor((5, 8), dtype="float16")) -> R.Tuple(R.Tensor((1, n), dtype="float32"), R.Tensor((2, 3, 1, t), dtype="float32"), R.Tensor((5,), dtype="float16")):
        with R.dataflow():
            b: R.Tensor((8, n), dtype="float32") = R.permute_dims(w, axes=None)
            x: R.Tensor((1, n), dtype="float32") = R.matmul(a, b, out_dtype=None)
            c: R.Tensor((2, 3, 8, t), dtype="float32") = R.permute_dims(k, axes=[0, 2, 3, 1])
            y: R.Tensor((2, 3, 1, t), dtype="float32") = R.matmul(q, c, out_dtype=None)
            d: R.Tensor((8, 5), dtype="float16") = R.permute_dims(m, axes=None)
            z: R.Tensor((5,), dtype="float16") = R.matmul(v, d, out_dtype=None)
            R.output(x, y, z)
        return (x, y, z)
