# run: CombineParallelMatmul
# What has to wait for the combined product keeps its order.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 16), "float32"), w: R.Tensor((16, 8), "float32"), y: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            p = R.matmul(x, w)
            e1 = R.exp(p)
            e2 = R.tanh(p)
            e3 = R.sqrt(e1)
            e4 = R.cos(e2)
            k = R.permute_dims(y)
            q = R.matmul(x, k)
            s = R.add(q, q)
            R.output(e3, e4, s)
        return (e3, e4, s)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 16), dtype="float32"), w: R.Tensor((16, 8), dtype="float32"), y: R.Tensor((8, 16), dtype="float32")) -> R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32")):
        with R.dataflow():
            k: R.Tensor((16, 8), dtype="float32") = R.permute_dims(y, axes=None)
            lv: R.Tensor((16, 16), dtype="float32") = R.concat((w, k), axis=1)
            lv1: R.Tensor((4, 16), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32")) = R.split(lv1, indices_or_sections=[8], axis=1)
            p: R.Tensor((4, 8), dtype="float32") = lv2[0]
            e1: R.Tensor((4, 8), dtype="float32") = R.exp(p)
            e2: R.Tensor((4, 8), dtype="float32") = R.tanh(p)
            e3: R.Tensor((4, 8), dtype="float32") = R.sqrt(e1)
            e4: R.Tensor((4, 8), dtype="float32") = R.cos(e2)
            q: R.Tensor((4, 8), dtype="float32") = lv2[1]
            s: R.Tensor((4, 8), dtype="float32") = R.add(q, q)
            R.output(e3, e4, s)
        return (e3, e4, s)
