# run: ConvertLayout(desired_layouts={relax.nn.conv2d: [NHWC, OHWI]})
# Another name of a value in its new layout is the value brought back; a third is a name of that.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            b = a
            c = R.nn.relu(b)
            d = a
            R.output(c, d)
        return (c, d)

    @R.function
    def one_name(x: R.Tensor((2, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            b = R.nn.relu(a)
            gv = a
            R.output(b, gv)
        return (b, gv)

    @R.function
    def several_users(x: R.Tensor((2, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            b = R.reshape(a, R.shape([2, 256]))
            c = R.reshape(a, R.shape([8, 64]))
            gv = R.exp(a)
            R.output(b, c, gv)
        return (b, c, gv)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def one_name(x: R.Tensor((2, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 4, 8, 8), dtype="float32"), R.Tensor((2, 4, 8, 8), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 8, 8, 4), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv1: R.Tensor((4, 3, 3, 4), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((2, 8, 8, 4), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            lv2: R.Tensor((2, 8, 8, 4), dtype="float32") = R.nn.relu(a)
            b: R.Tensor((2, 4, 8, 8), dtype="float32") = R.permute_dims(lv2, axes=[0, 3, 1, 2])
            gv: R.Tensor((2, 4, 8, 8), dtype="float32") = R.permute_dims(a, axes=[0, 3, 1, 2])
            R.output(b, gv)
        return (b, gv)

    @R.function
    def several_users(x: R.Tensor((2, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 256), dtype="float32"), R.Tensor((8, 64), dtype="float32"), R.Tensor((2, 4, 8, 8), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 8, 8, 4), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv1: R.Tensor((4, 3, 3, 4), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((2, 8, 8, 4), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            lv2: R.Tensor((2, 4, 8, 8), dtype="float32") = R.permute_dims(a, axes=[0, 3, 1, 2])
            b: R.Tensor((2, 256), dtype="float32") = R.reshape(lv2, R.shape([2, 256]))
            c: R.Tensor((8, 64), dtype="float32") = R.reshape(lv2, R.shape([8, 64]))
            lv3: R.Tensor((2, 8, 8, 4), dtype="float32") = R.exp(a)
            gv: R.Tensor((2, 4, 8, 8), dtype="float32") = R.permute_dims(lv3, axes=[0, 3, 1, 2])
            R.output(b, c, gv)
        return (b, c, gv)

    @R.function
    def main(x: R.Tensor((2, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 4, 8, 8), dtype="float32"), R.Tensor((2, 4, 8, 8), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 8, 8, 4), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv1: R.Tensor((4, 3, 3, 4), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((2, 8, 8, 4), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            b: R.Tensor((2, 4, 8, 8), dtype="float32") = R.permute_dims(a, axes=[0, 3, 1, 2])
            c: R.Tensor((2, 4, 8, 8), dtype="float32") = R.nn.relu(b)
            d: R.Tensor((2, 4, 8, 8), dtype="float32") = b
            R.output(c, d)
        return (c, d)
