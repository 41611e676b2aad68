# run: HeadsToRows
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, 6, 1, 8), "float32"), k: R.Tensor((1, 2, 20, 8), "float32"), v: R.Tensor((1, 2, 20, 8), "float32"), mask: R.Tensor((1, 1, 1, 20), "float32")):
        with R.dataflow():
            k0 = R.expand_dims(k, axis=[2])
            k1 = R.broadcast_to(k0, R.shape([1, 2, 3, 20, 8]))
            k2 = R.reshape(k1, R.shape([1, 6, 20, 8]))
            k3 = R.permute_dims(k2, axes=[0, 1, 3, 2])
            v0 = R.repeat(v, repeats=3, axis=1)
            s0 = R.matmul(q, k3)
            s1 = R.multiply(s0, R.const(0.25, "float32"))
            s2 = R.add(s1, mask)
            p = R.nn.softmax(s2, axis=-1)
            gv = R.matmul(p, v0)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, 6, 1, 8), dtype="float32"), k: R.Tensor((1, 2, 20, 8), dtype="float32"), v: R.Tensor((1, 2, 20, 8), dtype="float32"), mask: R.Tensor((1, 1, 1, 20), dtype="float32")) -> R.Tensor((1, 6, 1, 8), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((1, 2, 3, 8), dtype="float32") = R.reshape(q, R.shape([1, 2, 3, 8]))
            lv1: R.Tensor((1, 2, 8, 20), dtype="float32") = R.permute_dims(k, axes=[0, 1, 3, 2])
            lv2: R.Tensor((1, 2, 3, 20), dtype="float32") = R.matmul(lv, lv1, out_dtype=None)
            lv3: R.Tensor((1, 2, 3, 20), dtype="float32") = R.multiply(lv2, R.const(0.25, "float32"))
            lv4: R.Tensor((1, 2, 3, 20), dtype="float32") = R.add(lv3, mask)
            lv5: R.Tensor((1, 2, 3, 20), dtype="float32") = R.nn.softmax(lv4, axis=-1)
            lv6: R.Tensor((1, 2, 3, 8), dtype="float32") = R.matmul(lv5, v, out_dtype=None)
            gv: R.Tensor((1, 6, 1, 8), dtype="float32") = R.reshape(lv6, R.shape([1, 6, 1, 8]))
            R.output(gv)
        return gv
