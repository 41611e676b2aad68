# run:
# A result is laid out as the data, unless something else is said.
@I.ir_module
class Module:
    @R.function
    def convolutions(x: R.Tensor((1, 8, 8, 4), "float32"), w: R.Tensor((5, 3, 3, 4), "float32"), x1: R.Tensor((1, 8, 4), "float32"), w1: R.Tensor((5, 3, 4), "float32"), x3: R.Tensor((1, 8, 8, 8, 4), "float32"), w3: R.Tensor((5, 3, 3, 3, 4), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="OHWI")
            b = R.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="OHWI", out_layout="NCHW")
            c = R.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="OHWI", out_layout=None)
            d = R.nn.conv2d(x, w, [1, 1], [0, 0, 0, 0], [1, 1], 1, "NHWC", "OHWI", "NCHW")
            e = R.nn.conv1d(x1, w1, data_layout="NWC", kernel_layout="OWI")
            f = R.nn.conv3d(x3, w3, data_layout="NDHWC", kernel_layout="ODHWI")
            R.output(a, b, c, d, e, f)
        return (a, b, c, d, e, f)

    @R.function
    def transposed(x: R.Tensor((1, 8, 8, 4), "float32"), w: R.Tensor((4, 3, 3, 5), "float32"), x1: R.Tensor((1, 8, 4), "float32"), w1: R.Tensor((4, 3, 5), "float32"), x3: R.Tensor((1, 8, 8, 8, 4), "float32"), w3: R.Tensor((4, 3, 3, 3, 5), "float32")):
        with R.dataflow():
            a = R.nn.conv2d_transpose(x, w, data_layout="NHWC", kernel_layout="IHWO")
            b = R.nn.conv1d_transpose(x1, w1, data_layout="NWC", kernel_layout="IWO")
            c = R.nn.conv3d_transpose(x3, w3, data_layout="NDHWC", kernel_layout="IDHWO")
            R.output(a, b, c)
        return (a, b, c)

    @R.function
    def pools(x: R.Tensor((1, 8, 8, 4), "float32"), x1: R.Tensor((1, 8, 4), "float32"), x3: R.Tensor((1, 8, 8, 8, 4), "float32")):
        with R.dataflow():
            a = R.nn.max_pool2d(x, pool_size=(2, 2), layout="NHWC")
            b = R.nn.avg_pool1d(x1, pool_size=(2,), layout="NWC")
            c = R.nn.max_pool3d(x3, pool_size=(2, 2, 2), layout="NDHWC")
            d = R.nn.adaptive_avg_pool2d(x, (1, 1), layout="NHWC")
            e = R.nn.adaptive_avg_pool1d(x1, (1,), layout="NWC")
            R.output(a, b, c, d, e)
        return (a, b, c, d, e)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def convolutions(x: R.Tensor((1, 8, 8, 4), dtype="float32"), w: R.Tensor((5, 3, 3, 4), dtype="float32"), x1: R.Tensor((1, 8, 4), dtype="float32"), w1: R.Tensor((5, 3, 4), dtype="float32"), x3: R.Tensor((1, 8, 8, 8, 4), dtype="float32"), w3: R.Tensor((5, 3, 3, 3, 4), dtype="float32")) -> R.Tuple(R.Tensor((1, 6, 6, 5), dtype="float32"), R.Tensor((1, 5, 6, 6), dtype="float32"), R.Tensor((1, 6, 6, 5), dtype="float32"), R.Tensor((1, 5, 6, 6), dtype="float32"), R.Tensor((1, 6, 5), dtype="float32"), R.Tensor((1, 6, 6, 6, 5), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 6, 6, 5), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            b: R.Tensor((1, 5, 6, 6), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NCHW", out_dtype=None)
            c: R.Tensor((1, 6, 6, 5), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC", out_dtype=None)
            d: R.Tensor((1, 5, 6, 6), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NCHW", out_dtype=None)
            e: R.Tensor((1, 6, 5), dtype="float32") = R.nn.conv1d(x1, w1, strides=[1], padding=[0, 0], dilation=[1], groups=1, data_layout="NWC", kernel_layout="OWI", out_layout="NWC", out_dtype=None)
            f: R.Tensor((1, 6, 6, 6, 5), dtype="float32") = R.nn.conv3d(x3, w3, strides=[1, 1, 1], padding=[0, 0, 0, 0, 0, 0], dilation=[1, 1, 1], groups=1, data_layout="NDHWC", kernel_layout="ODHWI", out_layout="NDHWC", out_dtype=None)
            R.output(a, b, c, d, e, f)
        return (a, b, c, d, e, f)

    @R.function
    def pools(x: R.Tensor((1, 8, 8, 4), dtype="float32"), x1: R.Tensor((1, 8, 4), dtype="float32"), x3: R.Tensor((1, 8, 8, 8, 4), dtype="float32")) -> R.Tuple(R.Tensor((1, 7, 7, 4), dtype="float32"), R.Tensor((1, 7, 4), dtype="float32"), R.Tensor((1, 7, 7, 7, 4), dtype="float32"), R.Tensor((1, 1, 1, 4), dtype="float32"), R.Tensor((1, 1, 4), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 7, 7, 4), dtype="float32") = R.nn.max_pool2d(x, pool_size=[2, 2], strides=[1, 1], dilation=[1, 1], padding=[0, 0, 0, 0], ceil_mode=False, count_include_pad=False, layout="NHWC", out_layout="NHWC")
            b: R.Tensor((1, 7, 4), dtype="float32") = R.nn.avg_pool1d(x1, pool_size=[2], strides=[1], dilation=[1], padding=[0, 0], ceil_mode=False, count_include_pad=True, layout="NWC", out_layout="NWC")
            c: R.Tensor((1, 7, 7, 7, 4), dtype="float32") = R.nn.max_pool3d(x3, pool_size=[2, 2, 2], strides=[1, 1, 1], dilation=[1, 1, 1], padding=[0, 0, 0, 0, 0, 0], ceil_mode=False, count_include_pad=False, layout="NDHWC", out_layout="NDHWC")
            d: R.Tensor((1, 1, 1, 4), dtype="float32") = R.nn.adaptive_avg_pool2d(x, output_size=[1, 1], layout="NHWC", out_layout="NHWC")
            e: R.Tensor((1, 1, 4), dtype="float32") = R.nn.adaptive_avg_pool1d(x1, output_size=[1], layout="NWC", out_layout="NWC")
            R.output(a, b, c, d, e)
        return (a, b, c, d, e)

    @R.function
    def transposed(x: R.Tensor((1, 8, 8, 4), dtype="float32"), w: R.Tensor((4, 3, 3, 5), dtype="float32"), x1: R.Tensor((1, 8, 4), dtype="float32"), w1: R.Tensor((4, 3, 5), dtype="float32"), x3: R.Tensor((1, 8, 8, 8, 4), dtype="float32"), w3: R.Tensor((4, 3, 3, 3, 5), dtype="float32")) -> R.Tuple(R.Tensor((1, 10, 10, 5), dtype="float32"), R.Tensor((1, 10, 5), dtype="float32"), R.Tensor((1, 10, 10, 10, 5), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 10, 10, 5), dtype="float32") = R.nn.conv2d_transpose(x, w, strides=[1, 1], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="IHWO", out_layout="NHWC", out_dtype=None)
            b: R.Tensor((1, 10, 5), dtype="float32") = R.nn.conv1d_transpose(x1, w1, strides=[1], padding=[0, 0], output_padding=[0], dilation=[1], groups=1, data_layout="NWC", kernel_layout="IWO", out_layout="NWC", out_dtype=None)
            c: R.Tensor((1, 10, 10, 10, 5), dtype="float32") = R.nn.conv3d_transpose(x3, w3, strides=[1, 1, 1], padding=[0, 0, 0, 0, 0, 0], output_padding=[0, 0, 0], dilation=[1, 1, 1], groups=1, data_layout="NDHWC", kernel_layout="IDHWO", out_layout="NDHWC", out_dtype=None)
            R.output(a, b, c)
        return (a, b, c)
