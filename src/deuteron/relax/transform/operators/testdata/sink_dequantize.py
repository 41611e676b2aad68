# run: SinkDequantize,DeadCodeElimination
# What rearranges or selects goes before the dequantisation; a quantisation by the same scale undoes it, one by another
# does not; scales along an axis follow it where it goes.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 6, 6), "uint8"), y: R.Tensor((1, 4, 3, 3), "uint8"), w: R.Tensor((8, 4), "int8"), i: R.Tensor((3,), "int64"), s: R.Tensor((8,), "float32"), z: R.Tensor((8,), "int8")):
        with R.dataflow():
            a = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            p = R.nn.max_pool2d(a, pool_size=[2, 2], strides=[2, 2])
            b = R.dequantize(y, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            c = R.concat((p, b), axis=1)
            q = R.quantize(c, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="uint8")
            d = R.dequantize(q, R.const(0.5, "float32"), R.const(3, "uint8"), axis=0, out_dtype="float32")
            r = R.reshape(d, (1, 72))
            t = R.quantize(r, R.const(0.25, "float32"), R.const(3, "uint8"), axis=0, out_dtype="uint8")
            v = R.dequantize(w, s, z, axis=0, out_dtype="float32")
            vt = R.permute_dims(v, axes=[1, 0])
            ve = R.reshape(vt, (4, 1, 8))
            vr = R.reshape(vt, (8, 4))
            k = R.take(a, i, axis=1)
            kn = R.take(a, i, axis=1, mode="nan")
            kc = R.take(v, i, axis=1)
            R.output(t, ve, vr, k, kn, kc)
        return (t, ve, vr, k, kn, kc)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 6, 6), dtype="uint8"), y: R.Tensor((1, 4, 3, 3), dtype="uint8"), w: R.Tensor((8, 4), dtype="int8"), i: R.Tensor((3,), dtype="int64"), s: R.Tensor((8,), dtype="float32"), z: R.Tensor((8,), dtype="int8")) -> R.Tuple(R.Tensor((1, 72), dtype="uint8"), R.Tensor((4, 1, 8), dtype="float32"), R.Tensor((8, 4), dtype="float32"), R.Tensor((1, 3, 6, 6), dtype="float32"), R.Tensor((1, 3, 6, 6), dtype="float32"), R.Tensor((8, 3), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 4, 6, 6), dtype="float32") = R.dequantize(x, R.const(0.5, "float32"), R.const(3, "uint8"), out_dtype="float32", axis=0)
            lv: R.Tensor((1, 4, 3, 3), dtype="uint8") = R.nn.max_pool2d(x, pool_size=[2, 2], strides=[2, 2], dilation=[1, 1], padding=[0, 0, 0, 0], ceil_mode=False, count_include_pad=False, layout="NCHW", out_layout="NCHW")
            lv1: R.Tensor((1, 8, 3, 3), dtype="uint8") = R.concat((lv, y), axis=1)
            lv2: R.Tensor((1, 72), dtype="uint8") = R.reshape(lv1, R.shape([1, 72]))
            r: R.Tensor((1, 72), dtype="float32") = R.dequantize(lv2, R.const(0.5, "float32"), R.const(3, "uint8"), out_dtype="float32", axis=0)
            t: R.Tensor((1, 72), dtype="uint8") = R.quantize(r, R.const(0.25, "float32"), R.const(3, "uint8"), out_dtype="uint8", axis=0)
            v: R.Tensor((8, 4), dtype="float32") = R.dequantize(w, s, z, out_dtype="float32", axis=0)
            lv3: R.Tensor((4, 8), dtype="int8") = R.permute_dims(w, axes=[1, 0])
            vt: R.Tensor((4, 8), dtype="float32") = R.dequantize(lv3, s, z, out_dtype="float32", axis=1)
            lv4: R.Tensor((4, 1, 8), dtype="int8") = R.reshape(lv3, R.shape([4, 1, 8]))
            ve: R.Tensor((4, 1, 8), dtype="float32") = R.dequantize(lv4, s, z, out_dtype="float32", axis=2)
            vr: R.Tensor((8, 4), dtype="float32") = R.reshape(vt, R.shape([8, 4]))
            lv5: R.Tensor((1, 3, 6, 6), dtype="uint8") = R.take(x, i, axis=1, mode="fast")
            k: R.Tensor((1, 3, 6, 6), dtype="float32") = R.dequantize(lv5, R.const(0.5, "float32"), R.const(3, "uint8"), out_dtype="float32", axis=0)
            kn: R.Tensor((1, 3, 6, 6), dtype="float32") = R.take(a, i, axis=1, mode="nan")
            kc: R.Tensor((8, 3), dtype="float32") = R.take(v, i, axis=1, mode="fast")
            R.output(t, ve, vr, k, kn, kc)
        return (t, ve, vr, k, kn, kc)
