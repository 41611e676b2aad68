# run: AlterOpLayout(target="llvm -mcpu=znver4 -vector-bits=512"),FoldConstant
# expect-remark: AlterOpLayout stem -> nn.conv2d: converted
# expect-remark: AlterOpLayout depthwise -> nn.conv2d: converted
@I.ir_module
class Module:
    @R.function
    def main(image: R.Tensor((1, 3, 8, 8), "float32"), w0: R.Tensor((32, 3, 3, 3), "float32"), w1: R.Tensor((32, 1, 3, 3), "float32"), w2: R.Tensor((32, 32, 1, 1), "float32")):
        with R.dataflow():
            stem = R.nn.conv2d(image, w0, padding=1)
            active = R.nn.relu(stem)
            depthwise = R.nn.conv2d(active, w1, padding=1, groups=32)
            pointwise = R.nn.conv2d(depthwise, w2)
            biased = R.add(pointwise, R.const([[[[1.0]]]], "float32"))
            sum = R.add(biased, active)
            pooled = R.nn.adaptive_avg_pool2d(sum, (1, 1))
            gv = R.reshape(pooled, R.shape([1, 32]))
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
    def main(image: R.Tensor((1, 3, 8, 8), dtype="float32"), w0: R.Tensor((32, 3, 3, 3), dtype="float32"), w1: R.Tensor((32, 1, 3, 3), dtype="float32"), w2: R.Tensor((32, 32, 1, 1), dtype="float32")) -> R.Tensor((1, 32), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((2, 3, 3, 3, 16), dtype="float32") = R.layout_transform(w0, index_map=T.index_map(lambda i0, i1, i2, i3: (i0 // 16, i1, i2, i3, i0 % 16)), pad_value=None)
            stem: R.Tensor((1, 2, 8, 8, 16), dtype="float32") = R.nn.conv2d(image, lv, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW16o", out_layout="NCHW16c", out_dtype=None)
            active: R.Tensor((1, 2, 8, 8, 16), dtype="float32") = R.nn.relu(stem)
            lv1: R.Tensor((2, 1, 3, 3, 16), dtype="float32") = R.layout_transform(w1, index_map=T.index_map(lambda i0, i1, i2, i3: (i0 // 16, i1, i2, i3, i0 % 16)), pad_value=None)
            depthwise: R.Tensor((1, 2, 8, 8, 16), dtype="float32") = R.nn.conv2d(active, lv1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=32, data_layout="NCHW16c", kernel_layout="OIHW16o", out_layout="NCHW16c", out_dtype=None)
            lv2: R.Tensor((2, 2, 1, 1, 16, 16), dtype="float32") = R.layout_transform(w2, index_map=T.index_map(lambda i0, i1, i2, i3: (i0 // 16, i1 // 16, i2, i3, i1 % 16, i0 % 16)), pad_value=None)
            pointwise: R.Tensor((1, 2, 8, 8, 16), dtype="float32") = R.nn.conv2d(depthwise, lv2, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW16c", kernel_layout="OIHW16i16o", out_layout="NCHW16c", out_dtype=None)
            biased: R.Tensor((1, 2, 8, 8, 16), dtype="float32") = R.add(pointwise, metadata["ir.GenericConst"][0])
            sum: R.Tensor((1, 2, 8, 8, 16), dtype="float32") = R.add(biased, active)
            pooled: R.Tensor((1, 2, 1, 1, 16), dtype="float32") = R.nn.adaptive_avg_pool2d(sum, output_size=[1, 1], layout="NCHW16c", out_layout="NCHW16c")
            lv4: R.Tensor((1, 32, 1, 1), dtype="float32") = R.layout_transform(pooled, index_map=T.index_map(lambda i0, i1, i2, i3, i4: (i0, i1 * 16 + i4, i2, i3)), pad_value=None)
            gv: R.Tensor((1, 32), dtype="float32") = R.reshape(lv4, R.shape([1, 32]))
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [1, 1, 1, 1, 1], "data": "AACAPw=="},
]}
