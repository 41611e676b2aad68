# run: DotProducts
# Of a matrix, of keys whose heads lie behind their positions, of a vector, of float16.
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
            lv: R.Tensor((n, 8), dtype="float32") = R.multiply(a, w)
            lv1: R.Tensor((n,), dtype="float32") = R.sum(lv, axis=[-1], keepdims=False)
            lv2: R.Tensor((1, n), dtype="float32") = R.expand_dims(lv1, axis=[-2])
            x: R.Tensor((1, n), dtype="float32") = lv2
            lv3: R.Tensor((2, 3, t, 8), dtype="float32") = R.permute_dims(k, axes=[0, 2, 1, 3])
            lv4: R.Tensor((2, 3, t, 8), dtype="float32") = R.multiply(q, lv3)
            lv5: R.Tensor((2, 3, t), dtype="float32") = R.sum(lv4, axis=[-1], keepdims=False)
            lv6: R.Tensor((2, 3, 1, t), dtype="float32") = R.expand_dims(lv5, axis=[-2])
            y: R.Tensor((2, 3, 1, t), dtype="float32") = lv6
            lv7: R.Tensor((5, 8), dtype="float32") = R.astype(m, dtype="float32")
            lv8: R.Tensor((8,), dtype="float32") = R.astype(v, dtype="float32")
            lv9: R.Tensor((5, 8), dtype="float32") = R.multiply(lv8, lv7)
            lv10: R.Tensor((5,), dtype="float32") = R.sum(lv9, axis=[-1], keepdims=False)
            lv11: R.Tensor((5,), dtype="float16") = R.astype(lv10, dtype="float16")
            z: R.Tensor((5,), dtype="float16") = lv11
            R.output(x, y, z)
        return (x, y, z)
