# run: FoldPadToConv
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4, "h", 9), "float32"), w: R.Tensor((8, 4, 3, 3), "float32"), p: R.Tensor((8, 4, 1, 1), "float32"), l: R.Tensor((1, 4, 6), "float32"), v: R.Tensor((2, 4, 3), "float32")):
        with R.dataflow():
            # What differs at the ends, and padding of the convolution's own; the padded image is used twice.
            a = R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, 1, 1, 0])
            b = R.nn.conv2d(a, w, strides=[2, 2])
            c = R.nn.conv2d(a, w, padding=[1, 1, 1, 0], dilation=[2, 1])
            d = R.nn.pad(l, pad_width=[0, 0, 0, 0, 2, 2])
            e = R.nn.conv1d(d, v)
            # Another value, another mode, channels, cut off, and more than a window sees.
            f = R.nn.conv2d(R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, 1, 1, 0], pad_value=1.0), w)
            g = R.nn.conv2d(R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, 1, 1, 0], pad_mode="reflect"), w)
            h = R.nn.conv2d(R.nn.pad(x, pad_width=[1, 1, 0, 0, 0, 1, 1, 0]), w)
            i = R.nn.conv2d(R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, -1, 1, 0]), w)
            j = R.nn.conv2d(R.nn.pad(x, pad_width=[0, 0, 0, 0, 1, 1, 1, 1]), p)
            R.output(b, c, e, f, g, h, i, j)
        return (b, c, e, f, g, h, i, j)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
h = TypeVar("h")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 4, h, 9), dtype="float32"), w: R.Tensor((8, 4, 3, 3), dtype="float32"), p: R.Tensor((8, 4, 1, 1), dtype="float32"), l: R.Tensor((1, 4, 6), dtype="float32"), v: R.Tensor((2, 4, 3), dtype="float32")) -> R.Tuple(R.Tensor((n, 8, "h // 2", 4), dtype="float32"), R.Tensor((n, 8, "h - 1", 9), dtype="float32"), R.Tensor((1, 2, 8), dtype="float32"), R.Tensor((n, 8, "h - 1", 8), dtype="float32"), R.Tensor((n, 8, "h - 1", 8), dtype="float32"), R.Tensor(("n + 2", 8, "h - 1", 8), dtype="float32"), R.Tensor((n, 8, "h - 3", 8), dtype="float32"), R.Tensor((n, 8, "h + 2", 11), dtype="float32")):
        with R.dataflow():
            b: R.Tensor((n, 8, h // 2, 4), dtype="float32") = R.nn.conv2d(x, w, strides=[2, 2], padding=[0, 1, 1, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            c: R.Tensor((n, 8, h - 1, 9), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[1, 2, 2, 0], dilation=[2, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            e: R.Tensor((1, 2, 8), dtype="float32") = R.nn.conv1d(l, v, strides=[1], padding=[2, 2], dilation=[1], groups=1, data_layout="NCW", kernel_layout="OIW", out_layout="NCW", out_dtype=None)
            lv: R.Tensor((n, 4, h + 1, 10), dtype="float32") = R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, 1, 1, 0], pad_value=1.0, pad_mode="constant")
            f: R.Tensor((n, 8, h - 1, 8), dtype="float32") = R.nn.conv2d(lv, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv1: R.Tensor((n, 4, h + 1, 10), dtype="float32") = R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, 1, 1, 0], pad_value=0.0, pad_mode="reflect")
            g: R.Tensor((n, 8, h - 1, 8), dtype="float32") = R.nn.conv2d(lv1, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv2: R.Tensor((n + 2, 4, h + 1, 10), dtype="float32") = R.nn.pad(x, pad_width=[1, 1, 0, 0, 0, 1, 1, 0], pad_value=0.0, pad_mode="constant")
            h_1: R.Tensor((n + 2, 8, h - 1, 8), dtype="float32") = R.nn.conv2d(lv2, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv3: R.Tensor((n, 4, h - 1, 10), dtype="float32") = R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, -1, 1, 0], pad_value=0.0, pad_mode="constant")
            i: R.Tensor((n, 8, h - 3, 8), dtype="float32") = R.nn.conv2d(lv3, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv4: R.Tensor((n, 4, h + 2, 11), dtype="float32") = R.nn.pad(x, pad_width=[0, 0, 0, 0, 1, 1, 1, 1], pad_value=0.0, pad_mode="constant")
            j: R.Tensor((n, 8, h + 2, 11), dtype="float32") = R.nn.conv2d(lv4, p, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            R.output(b, c, e, f, g, h_1, i, j)
        return (b, c, e, f, g, h_1, i, j)
