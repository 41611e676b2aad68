# run: CombineParallelMatmul
# expect-remark: CombineParallelMatmul query, key, value: combined-with-bias
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("batch", 16, 32), "float32"), wq: R.Tensor((32, 24), "float32"), wk: R.Tensor((32, 24), "float32"), wv: R.Tensor((32, 8), "float32"), bq: R.Tensor((24,), "float32"), bk: R.Tensor((24,), "float32"), bv: R.Tensor((8,), "float32")):
        batch = T.int64()
        with R.dataflow():
            q = R.matmul(x, wq)
            query = R.add(q, bq)
            k = R.matmul(x, wk)
            key = R.add(bk, k)
            v = R.matmul(x, wv)
            value = R.add(v, bv)
            transposed = R.permute_dims(key, axes=[0, 2, 1])
            scores = R.matmul(query, transposed)
            weights = R.nn.softmax(scores)
            gv = R.matmul(weights, value)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

batch = TypeVar("batch")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((batch, 16, 32), dtype="float32"), wq: R.Tensor((32, 24), dtype="float32"), wk: R.Tensor((32, 24), dtype="float32"), wv: R.Tensor((32, 8), dtype="float32"), bq: R.Tensor((24,), dtype="float32"), bk: R.Tensor((24,), dtype="float32"), bv: R.Tensor((8,), dtype="float32")) -> R.Tensor((batch, 16, 8), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((32, 56), dtype="float32") = R.concat((wq, wk, wv), axis=1)
            lv1: R.Tensor((batch, 16, 56), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tensor((56,), dtype="float32") = R.concat((bq, bk, bv), axis=0)
            lv3: R.Tensor((batch, 16, 56), dtype="float32") = R.add(lv1, lv2)
            lv4: R.Tuple(R.Tensor((batch, 16, 24), dtype="float32"), R.Tensor((batch, 16, 24), dtype="float32"), R.Tensor((batch, 16, 8), dtype="float32")) = R.split(lv3, indices_or_sections=[24, 48], axis=2)
            query: R.Tensor((batch, 16, 24), dtype="float32") = lv4[0]
            key: R.Tensor((batch, 16, 24), dtype="float32") = lv4[1]
            value: R.Tensor((batch, 16, 8), dtype="float32") = lv4[2]
            transposed: R.Tensor((batch, 24, 16), dtype="float32") = R.permute_dims(key, axes=[0, 2, 1])
            scores: R.Tensor((batch, 16, 16), dtype="float32") = R.matmul(query, transposed, out_dtype=None)
            weights: R.Tensor((batch, 16, 16), dtype="float32") = R.nn.softmax(scores, axis=-1)
            gv: R.Tensor((batch, 16, 8), dtype="float32") = R.matmul(weights, value, out_dtype=None)
            R.output(gv)
        return gv
