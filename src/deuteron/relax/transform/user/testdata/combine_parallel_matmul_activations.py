# run: CombineParallelMatmul
# expect-remark: CombineParallelMatmul a1, b1_1: combined-with-bias-and-activation
# expect-remark: CombineParallelMatmul c0, d0: combined
# expect-remark: CombineParallelMatmul e1, f1: combined-with-activation
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), y: R.Tensor((4, 8), "float32"), z: R.Tensor((4, 8), "float32"), w1: R.Tensor((8, 16), "float32"), w2: R.Tensor((8, 6), "float32"), b1: R.Tensor((1, 16), "float32"), b2: R.Tensor((1, 6), "float32")):
        with R.dataflow():
            p0 = R.matmul(x, w1)
            p1 = R.add(p0, b1)
            a1 = R.nn.relu(p1)
            q0 = R.matmul(x, w2)
            q1 = R.add(q0, b2)
            b1_1 = R.nn.relu(q1)
            c0 = R.matmul(y, w1)
            c1 = R.nn.gelu(c0)
            d0 = R.matmul(y, w2)
            d1 = R.nn.silu(d0)
            e0 = R.matmul(z, w1)
            e1 = R.nn.silu(e0)
            f0 = R.matmul(z, w2)
            f1 = R.nn.silu(f0)
            gv = (a1, b1_1, c1, d1, e1, f1)
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
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((4, 8), dtype="float32"), z: R.Tensor((4, 8), dtype="float32"), w1: R.Tensor((8, 16), dtype="float32"), w2: R.Tensor((8, 6), dtype="float32"), b1: R.Tensor((1, 16), dtype="float32"), b2: R.Tensor((1, 6), dtype="float32")) -> R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((8, 22), dtype="float32") = R.concat((w1, w2), axis=1)
            lv1: R.Tensor((4, 22), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tensor((1, 22), dtype="float32") = R.concat((b1, b2), axis=1)
            lv3: R.Tensor((4, 22), dtype="float32") = R.add(lv1, lv2)
            lv4: R.Tensor((4, 22), dtype="float32") = R.nn.relu(lv3)
            lv5: R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32")) = R.split(lv4, indices_or_sections=[16], axis=1)
            a1: R.Tensor((4, 16), dtype="float32") = lv5[0]
            b1_1: R.Tensor((4, 6), dtype="float32") = lv5[1]
            lv6: R.Tensor((4, 22), dtype="float32") = R.matmul(y, lv, out_dtype="float32")
            lv7: R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32")) = R.split(lv6, indices_or_sections=[16], axis=1)
            c0: R.Tensor((4, 16), dtype="float32") = lv7[0]
            c1: R.Tensor((4, 16), dtype="float32") = R.nn.gelu(c0)
            d0: R.Tensor((4, 6), dtype="float32") = lv7[1]
            d1: R.Tensor((4, 6), dtype="float32") = R.nn.silu(d0)
            lv8: R.Tensor((4, 22), dtype="float32") = R.matmul(z, lv, out_dtype="float32")
            lv9: R.Tensor((4, 22), dtype="float32") = R.nn.silu(lv8)
            lv10: R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32")) = R.split(lv9, indices_or_sections=[16], axis=1)
            e1: R.Tensor((4, 16), dtype="float32") = lv10[0]
            f1: R.Tensor((4, 6), dtype="float32") = lv10[1]
            gv: R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32")) = a1, b1_1, c1, d1, e1, f1
            R.output(gv)
        return gv
