# run: ConvertLayout(desired_layouts={relax.nn.conv2d: [NCHW4c, OIHW4i4o]})
# expect-remark: ConvertLayout a -> nn.conv2d: converted
# expect-remark: ConvertLayout stem -> nn.conv2d: layout-does-not-fit
# expect-remark: ConvertLayout soft -> nn.softmax: keeps-its-layout
@I.ir_module
class Module:
    @R.function
    def main(image: R.Tensor((1, 3, 8, 8), "float32"), w0: R.Tensor((8, 3, 3, 3), "float32"), w1: R.Tensor((8, 8, 3, 3), "float32"), bias: R.Tensor((1, 8, 1, 1), "float32"), scale: R.Tensor((1, 1, 1, 1), "float32")):
        with R.dataflow():
            stem = R.nn.conv2d(image, w0, padding=1)
            a = R.nn.conv2d(stem, w1, padding=1)
            b = R.nn.relu(R.add(a, bias))
            c = R.nn.conv2d(b, w1, padding=1)
            d = R.multiply(R.add(c, b), scale)
            e = R.nn.avg_pool2d(d, pool_size=(2, 2), strides=(2, 2))
            f = R.concat((e, e), axis=1)
            s = R.split(f, 2, axis=1)
            g = s[1]
            h = R.mean(g, axis=[1, 2], keepdims=True)
            k = R.multiply(h, R.nn.relu(g))
            i = R.sum(g, axis=[1, 3])
            soft = R.nn.softmax(g, axis=1)
            R.output(soft, k, i)
        return (soft, k, i)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(image: R.Tensor((1, 3, 8, 8), dtype="float32"), w0: R.Tensor((8, 3, 3, 3), dtype="float32"), w1: R.Tensor((8, 8, 3, 3), dtype="float32"), bias: R.Tensor((1, 8, 1, 1), dtype="float32"), scale: R.Tensor((1, 1, 1, 1), dtype="float32")) -> R.Tuple(R.Tensor((1, 8, 4, 4), dtype="float32"), R.Tensor((1, 8, 4, 4), dtype="float32"), R.Tensor((1, 4), dtype="float32")):
        with R.dataflow():
            stem: R.Tensor((1, 8, 8, 8), dtype="float32") = R.nn.conv2d(image, w0, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv: R.Tensor((1, 2, 8, 8, 4), dtype="float32") = R.layout_transform(stem, index_map=T.index_map(lambda i0, i1, i2, i3: (i0, i1 // 4, i2, i3, i1 % 4)), pad_value=None)
            lv1: R.Tensor((2, 2, 3, 3, 4, 4), dtype="float32") = R.layout_transform(w1, index_map=T.index_map(lambda i0, i1, i2, i3: (i0 // 4, i1 // 4, i2, i3, i1 % 4, i0 % 4)), pad_value=None)
            a: R.Tensor((1, 2, 8, 8, 4), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c", out_dtype=None)
            lv2: R.Tensor((1, 2, 1, 1, 4), dtype="float32") = R.layout_transform(bias, index_map=T.index_map(lambda i0, i1, i2, i3: (i0, i1 // 4, i2, i3, i1 % 4)), pad_value=None)
            lv_1: R.Tensor((1, 2, 8, 8, 4), dtype="float32") = R.add(a, lv2)
            b: R.Tensor((1, 2, 8, 8, 4), dtype="float32") = R.nn.relu(lv_1)
            c: R.Tensor((1, 2, 8, 8, 4), dtype="float32") = R.nn.conv2d(b, lv1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c", out_dtype=None)
            lv1_1: R.Tensor((1, 2, 8, 8, 4), dtype="float32") = R.add(c, b)
            lv3: R.Tensor((1, 1, 1, 1, 1), dtype="float32") = R.layout_transform(scale, index_map=T.index_map(lambda i0, i1, i2, i3: (i0, i1, i2, i3, 0)), pad_value=None)
            d: R.Tensor((1, 2, 8, 8, 4), dtype="float32") = R.multiply(lv1_1, lv3)
            e: R.Tensor((1, 2, 4, 4, 4), dtype="float32") = R.nn.avg_pool2d(d, pool_size=[2, 2], strides=[2, 2], dilation=[1, 1], padding=[0, 0, 0, 0], ceil_mode=False, count_include_pad=False, layout="NCHW4c", out_layout="NCHW4c")
            f: R.Tensor((1, 4, 4, 4, 4), dtype="float32") = R.concat((e, e), axis=1)
            s: R.Tuple(R.Tensor((1, 2, 4, 4, 4), dtype="float32"), R.Tensor((1, 2, 4, 4, 4), dtype="float32")) = R.split(f, indices_or_sections=2, axis=1)
            g: R.Tensor((1, 2, 4, 4, 4), dtype="float32") = s[1]
            h: R.Tensor((1, 1, 1, 4, 1), dtype="float32") = R.mean(g, axis=[1, 2, 4], keepdims=True)
            lv2_1: R.Tensor((1, 2, 4, 4, 4), dtype="float32") = R.nn.relu(g)
            lv4: R.Tensor((1, 2, 4, 4, 4), dtype="float32") = R.multiply(h, lv2_1)
            k: R.Tensor((1, 8, 4, 4), dtype="float32") = R.layout_transform(lv4, index_map=T.index_map(lambda i0, i1, i2, i3, i4: (i0, i1 * 4 + i4, i2, i3)), pad_value=None)
            i: R.Tensor((1, 4), dtype="float32") = R.sum(g, axis=[1, 3, 4], keepdims=False)
            lv5: R.Tensor((1, 8, 4, 4), dtype="float32") = R.layout_transform(g, index_map=T.index_map(lambda i0, i1, i2, i3, i4: (i0, i1 * 4 + i4, i2, i3)), pad_value=None)
            soft: R.Tensor((1, 8, 4, 4), dtype="float32") = R.nn.softmax(lv5, axis=1)
            R.output(k, i, soft)
        return (soft, k, i)
