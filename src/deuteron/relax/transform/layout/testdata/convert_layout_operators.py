# run: ConvertLayout(desired_layouts={relax.nn.conv2d: [NHWC, OHWI]})
@I.ir_module
class Module:
    @R.function
    def pieces(x: R.Tensor((2, 8, 6, 6), "float32"), w: R.Tensor((8, 8, 1, 1), "float32"), y: R.Tensor((2, 4, 6, 6), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            s = R.split(a, [2, 4], axis=-3)
            s0 = s[0]
            s2 = s[2]
            c = R.concat((y, s2, s0), axis=1)
            t = R.strided_slice(c, axes=[-1, 1], begin=[1, 0], end=[5, 8], strides=[2, 1])
            p = R.nn.pad(t, pad_width=[0, 0, 1, 2, 0, 0, 3, 4])
            f = R.flip(p, axis=1)
            e = R.expand_dims(f, axis=1)
            q = R.squeeze(e, axis=[1])
            r = R.tile(q, repeats=[1, 2, 1, 1])
            h = R.where(R.greater(r, R.const(0, "float32")), r, R.clip(r, 0, 6))
            k = R.argmax(h, axis=1)
            l = R.permute_dims(h, axes=[0, 2, 3, 1])
            gv = (k, l, R.repeat(h, 2))
            R.output(gv)
        return gv

    @R.function
    def reductions(x: R.Tensor((2, 8, 6, 5), "float32"), w: R.Tensor((8, 8, 1, 1), "float32"), g: R.Tensor((8,), "float32"), h: R.Tensor((5,), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            b = R.sum(a, axis=[1, -1], keepdims=True)
            c = R.max(a, axis=[2])
            d = R.nn.softmax(a, axis=1)
            e = R.nn.layer_norm(a, h, h, axes=[-1])
            f = R.nn.group_norm(a, g, g, num_groups=2, channel_axis=1, axes=[2, 3])
            i = R.nn.prelu(a, g, axis=1)
            j = R.cumsum(a, axis=1)
            k = R.add(R.add(R.add(R.add(b, d), e), f), R.add(i, j))
            l = R.variance(k)
            gv = (k, c, l)
            R.output(gv)
        return gv

    @R.function
    def operands(x: R.Tensor((2, 8, 6, 5), "float32"), w: R.Tensor((8, 8, 1, 1), "float32"), y: R.Tensor((2, 8, 6, 5), "float32"), v: R.Tensor((5,), "float32"), z: R.Tensor((3, 2, 8, 6, 5), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            b = R.subtract(y, a)
            c = R.subtract(R.const(1, "float32"), b)
            d = R.add(c, v)
            e = R.multiply(z, c)
            f = R.ewise_fma(y, y, c)
            gv = (d, e, f)
            R.output(gv)
        return gv

    @R.function
    def tuples(x: R.Tensor((2, 8, 6, 5), "float32"), w: R.Tensor((8, 8, 1, 1), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            b = R.nn.relu(a)
            t = (a, (b, x))
            u = t[1]
            v = u[0]
            y = R.exp(v)
            gv = (t, y)
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
    def operands(x: R.Tensor((2, 8, 6, 5), dtype="float32"), w: R.Tensor((8, 8, 1, 1), dtype="float32"), y: R.Tensor((2, 8, 6, 5), dtype="float32"), v: R.Tensor((5,), dtype="float32"), z: R.Tensor((3, 2, 8, 6, 5), dtype="float32")) -> R.Tuple(R.Tensor((2, 8, 6, 5), dtype="float32"), R.Tensor((3, 2, 8, 6, 5), dtype="float32"), R.Tensor((2, 8, 6, 5), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 6, 5, 8), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv1: R.Tensor((8, 1, 1, 8), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((2, 6, 5, 8), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            lv2: R.Tensor((2, 6, 5, 8), dtype="float32") = R.permute_dims(y, axes=[0, 2, 3, 1])
            b: R.Tensor((2, 6, 5, 8), dtype="float32") = R.subtract(lv2, a)
            c: R.Tensor((2, 6, 5, 8), dtype="float32") = R.subtract(R.const(1.0, "float32"), b)
            lv3: R.Tensor((2, 8, 6, 5), dtype="float32") = R.permute_dims(c, axes=[0, 3, 1, 2])
            d: R.Tensor((2, 8, 6, 5), dtype="float32") = R.add(lv3, v)
            lv4: R.Tensor((3, 2, 6, 5, 8), dtype="float32") = R.permute_dims(z, axes=[0, 1, 3, 4, 2])
            e: R.Tensor((3, 2, 6, 5, 8), dtype="float32") = R.multiply(lv4, c)
            f: R.Tensor((2, 6, 5, 8), dtype="float32") = R.ewise_fma(lv2, lv2, c)
            lv5: R.Tensor((3, 2, 8, 6, 5), dtype="float32") = R.permute_dims(e, axes=[0, 1, 4, 2, 3])
            lv6: R.Tensor((2, 8, 6, 5), dtype="float32") = R.permute_dims(f, axes=[0, 3, 1, 2])
            gv: R.Tuple(R.Tensor((2, 8, 6, 5), dtype="float32"), R.Tensor((3, 2, 8, 6, 5), dtype="float32"), R.Tensor((2, 8, 6, 5), dtype="float32")) = d, lv5, lv6
            R.output(gv)
        return gv

    @R.function
    def pieces(x: R.Tensor((2, 8, 6, 6), dtype="float32"), w: R.Tensor((8, 8, 1, 1), dtype="float32"), y: R.Tensor((2, 4, 6, 6), dtype="float32")) -> R.Tuple(R.Tensor((2, 6, 9), dtype="int64"), R.Tensor((2, 6, 9, 22), dtype="float32"), R.Tensor((4752,), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 6, 6, 8), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv1: R.Tensor((8, 1, 1, 8), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((2, 6, 6, 8), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            s: R.Tuple(R.Tensor((2, 6, 6, 2), dtype="float32"), R.Tensor((2, 6, 6, 2), dtype="float32"), R.Tensor((2, 6, 6, 4), dtype="float32")) = R.split(a, indices_or_sections=[2, 4], axis=3)
            s0: R.Tensor((2, 6, 6, 2), dtype="float32") = s[0]
            s2: R.Tensor((2, 6, 6, 4), dtype="float32") = s[2]
            lv2: R.Tensor((2, 6, 6, 4), dtype="float32") = R.permute_dims(y, axes=[0, 2, 3, 1])
            c: R.Tensor((2, 6, 6, 10), dtype="float32") = R.concat((lv2, s2, s0), axis=3)
            t: R.Tensor((2, 6, 2, 8), dtype="float32") = R.strided_slice(c, (2, 3), (1, 0), (5, 8), (2, 1), assume_inbound=False)
            p: R.Tensor((2, 6, 9, 11), dtype="float32") = R.nn.pad(t, pad_width=[0, 0, 0, 0, 3, 4, 1, 2], pad_value=0.0, pad_mode="constant")
            f: R.Tensor((2, 6, 9, 11), dtype="float32") = R.flip(p, axis=3)
            e: R.Tensor((2, 1, 6, 9, 11), dtype="float32") = R.expand_dims(f, axis=[1])
            q: R.Tensor((2, 6, 9, 11), dtype="float32") = R.squeeze(e, axis=[1])
            r: R.Tensor((2, 6, 9, 22), dtype="float32") = R.tile(q, repeats=[1, 1, 1, 2])
            lv_1: R.Tensor((2, 6, 9, 22), dtype="bool") = R.greater(r, R.const(0.0, "float32"))
            lv1_1: R.Tensor((2, 6, 9, 22), dtype="float32") = R.clip(r, 0, 6)
            h: R.Tensor((2, 6, 9, 22), dtype="float32") = R.where(lv_1, r, lv1_1)
            k: R.Tensor((2, 6, 9), dtype="int64") = R.argmax(h, axis=3, keepdims=False)
            l: R.Tensor((2, 6, 9, 22), dtype="float32") = R.permute_dims(h, axes=[0, 1, 2, 3])
            lv3: R.Tensor((2, 22, 6, 9), dtype="float32") = R.permute_dims(h, axes=[0, 3, 1, 2])
            lv2_1: R.Tensor((4752,), dtype="float32") = R.repeat(lv3, repeats=2, axis=None)
            gv: R.Tuple(R.Tensor((2, 6, 9), dtype="int64"), R.Tensor((2, 6, 9, 22), dtype="float32"), R.Tensor((4752,), dtype="float32")) = k, l, lv2_1
            R.output(gv)
        return gv

    @R.function
    def reductions(x: R.Tensor((2, 8, 6, 5), dtype="float32"), w: R.Tensor((8, 8, 1, 1), dtype="float32"), g: R.Tensor((8,), dtype="float32"), h: R.Tensor((5,), dtype="float32")) -> R.Tuple(R.Tensor((2, 8, 6, 5), dtype="float32"), R.Tensor((2, 8, 5), dtype="float32"), R.Tensor((), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 6, 5, 8), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv1: R.Tensor((8, 1, 1, 8), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((2, 6, 5, 8), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            b: R.Tensor((2, 6, 1, 1), dtype="float32") = R.sum(a, axis=[2, 3], keepdims=True)
            c: R.Tensor((2, 5, 8), dtype="float32") = R.max(a, axis=[1], keepdims=False)
            d: R.Tensor((2, 6, 5, 8), dtype="float32") = R.nn.softmax(a, axis=3)
            e: R.Tensor((2, 6, 5, 8), dtype="float32") = R.nn.layer_norm(a, h, h, axes=[2], epsilon=1e-05, center=True, scale=True)
            f: R.Tensor((2, 6, 5, 8), dtype="float32") = R.nn.group_norm(a, g, g, num_groups=2, channel_axis=3, axes=[1, 2], epsilon=1e-05, center=True, scale=True)
            i: R.Tensor((2, 6, 5, 8), dtype="float32") = R.nn.prelu(a, g, axis=3)
            j: R.Tensor((2, 6, 5, 8), dtype="float32") = R.cumsum(a, axis=3, dtype=None, exclusive=False)
            lv_1: R.Tensor((2, 6, 5, 8), dtype="float32") = R.add(b, d)
            lv1_1: R.Tensor((2, 6, 5, 8), dtype="float32") = R.add(lv_1, e)
            lv2: R.Tensor((2, 6, 5, 8), dtype="float32") = R.add(lv1_1, f)
            lv3: R.Tensor((2, 6, 5, 8), dtype="float32") = R.add(i, j)
            k: R.Tensor((2, 6, 5, 8), dtype="float32") = R.add(lv2, lv3)
            l: R.Tensor((), dtype="float32") = R.variance(k, axis=[0, 1, 2, 3], keepdims=False)
            lv4: R.Tensor((2, 8, 6, 5), dtype="float32") = R.permute_dims(k, axes=[0, 3, 1, 2])
            lv5: R.Tensor((2, 8, 5), dtype="float32") = R.permute_dims(c, axes=[0, 2, 1])
            gv: R.Tuple(R.Tensor((2, 8, 6, 5), dtype="float32"), R.Tensor((2, 8, 5), dtype="float32"), R.Tensor((), dtype="float32")) = lv4, lv5, l
            R.output(gv)
        return gv

    @R.function
    def tuples(x: R.Tensor((2, 8, 6, 5), dtype="float32"), w: R.Tensor((8, 8, 1, 1), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor((2, 8, 6, 5), dtype="float32"), R.Tuple(R.Tensor((2, 8, 6, 5), dtype="float32"), R.Tensor((2, 8, 6, 5), dtype="float32"))), R.Tensor((2, 8, 6, 5), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 6, 5, 8), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv1: R.Tensor((8, 1, 1, 8), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((2, 6, 5, 8), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            b: R.Tensor((2, 6, 5, 8), dtype="float32") = R.nn.relu(a)
            t: R.Tuple(R.Tensor((2, 6, 5, 8), dtype="float32"), R.Tuple(R.Tensor((2, 6, 5, 8), dtype="float32"), R.Tensor((2, 8, 6, 5), dtype="float32"))) = a, (b, x)
            u: R.Tuple(R.Tensor((2, 6, 5, 8), dtype="float32"), R.Tensor((2, 8, 6, 5), dtype="float32")) = t[1]
            v: R.Tensor((2, 6, 5, 8), dtype="float32") = u[0]
            y: R.Tensor((2, 6, 5, 8), dtype="float32") = R.exp(v)
            lv2: R.Tensor((2, 6, 5, 8), dtype="float32") = t[0]
            lv3: R.Tensor((2, 8, 6, 5), dtype="float32") = R.permute_dims(lv2, axes=[0, 3, 1, 2])
            lv4: R.Tuple(R.Tensor((2, 6, 5, 8), dtype="float32"), R.Tensor((2, 8, 6, 5), dtype="float32")) = t[1]
            lv5: R.Tensor((2, 6, 5, 8), dtype="float32") = lv4[0]
            lv6: R.Tensor((2, 8, 6, 5), dtype="float32") = R.permute_dims(lv5, axes=[0, 3, 1, 2])
            lv7: R.Tensor((2, 8, 6, 5), dtype="float32") = lv4[1]
            lv8: R.Tensor((2, 8, 6, 5), dtype="float32") = R.permute_dims(y, axes=[0, 3, 1, 2])
            gv: R.Tuple(R.Tuple(R.Tensor((2, 8, 6, 5), dtype="float32"), R.Tuple(R.Tensor((2, 8, 6, 5), dtype="float32"), R.Tensor((2, 8, 6, 5), dtype="float32"))), R.Tensor((2, 8, 6, 5), dtype="float32")) = (lv3, (lv6, lv7)), lv8
            R.output(gv)
        return gv
