# run: ConvertLayout(desired_layouts={relax.nn.conv2d: [NHWC, OHWI]})
# expect-remark: ConvertLayout conv -> nn.conv2d: converted
# expect-remark: ConvertLayout flat -> reshape: no-layout-rule
@I.ir_module
class Module:
    @R.function
    def residual(x: R.Tensor(("batch", 16, 28, 28), "float32"), w: R.Tensor((16, 16, 3, 3), "float32"), bias: R.Tensor((16, 1, 1), "float32"), gamma: R.Tensor((16,), "float32")):
        batch = T.int64()
        with R.dataflow():
            conv = R.nn.conv2d(x, w, padding=1)
            biased = R.add(conv, bias)
            norm = R.nn.batch_norm(biased, gamma, gamma, gamma, R.exp(gamma), axis=1, training=False)
            first = norm[0]
            active = R.nn.relu(R.add(x, first))
            pooled = R.nn.max_pool2d(active, pool_size=(2, 2), strides=(2, 2))
            means = R.mean(pooled, axis=[2, 3])
            flat = R.reshape(pooled, R.shape([batch, 3136]))
            R.output(active, means, flat)
        return (active, means, flat)

    @R.function
    def outside_of_dataflow(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        a = R.nn.conv2d(x, w)
        with R.dataflow():
            b = R.nn.relu(a)
            gv = R.nn.conv2d(b, w)
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
    def outside_of_dataflow(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor((1, 4, 4, 4), dtype="float32"):
        a: R.Tensor((1, 4, 6, 6), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
        with R.dataflow():
            b: R.Tensor((1, 4, 6, 6), dtype="float32") = R.nn.relu(a)
            lv: R.Tensor((1, 6, 6, 4), dtype="float32") = R.permute_dims(b, axes=[0, 2, 3, 1])
            lv1: R.Tensor((4, 3, 3, 4), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            lv2: R.Tensor((1, 4, 4, 4), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            gv: R.Tensor((1, 4, 4, 4), dtype="float32") = R.permute_dims(lv2, axes=[0, 3, 1, 2])
            R.output(gv)
        return gv

    @R.function
    def residual(x: R.Tensor((batch, 16, 28, 28), dtype="float32"), w: R.Tensor((16, 16, 3, 3), dtype="float32"), bias: R.Tensor((16, 1, 1), dtype="float32"), gamma: R.Tensor((16,), dtype="float32")) -> R.Tuple(R.Tensor((batch, 16, 28, 28), dtype="float32"), R.Tensor((batch, 16), dtype="float32"), R.Tensor((batch, 3136), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((batch, 28, 28, 16), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv1: R.Tensor((16, 3, 3, 16), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            conv: R.Tensor((batch, 28, 28, 16), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            lv2: R.Tensor((1, 1, 16), dtype="float32") = R.permute_dims(bias, axes=[1, 2, 0])
            biased: R.Tensor((batch, 28, 28, 16), dtype="float32") = R.add(conv, lv2)
            lv_1: R.Tensor((16,), dtype="float32") = R.exp(gamma)
            norm: R.Tuple(R.Tensor((batch, 28, 28, 16), dtype="float32"), R.Tensor((16,), dtype="float32"), R.Tensor((16,), dtype="float32")) = R.nn.batch_norm(biased, gamma, gamma, gamma, lv_1, axis=3, epsilon=1e-05, center=True, scale=True, momentum=0.1, training=False)
            first: R.Tensor((batch, 28, 28, 16), dtype="float32") = norm[0]
            lv1_1: R.Tensor((batch, 28, 28, 16), dtype="float32") = R.add(lv, first)
            lv3: R.Tensor((batch, 28, 28, 16), dtype="float32") = R.nn.relu(lv1_1)
            active: R.Tensor((batch, 16, 28, 28), dtype="float32") = R.permute_dims(lv3, axes=[0, 3, 1, 2])
            pooled: R.Tensor((batch, 14, 14, 16), dtype="float32") = R.nn.max_pool2d(lv3, pool_size=[2, 2], strides=[2, 2], dilation=[1, 1], padding=[0, 0, 0, 0], ceil_mode=False, count_include_pad=False, layout="NHWC", out_layout="NHWC")
            means: R.Tensor((batch, 16), dtype="float32") = R.mean(pooled, axis=[1, 2], keepdims=False)
            lv4: R.Tensor((batch, 16, 14, 14), dtype="float32") = R.permute_dims(pooled, axes=[0, 3, 1, 2])
            flat: R.Tensor((batch, 3136), dtype="float32") = R.reshape(lv4, R.shape([batch, 3136]))
            R.output(active, means, flat)
        return (active, means, flat)
