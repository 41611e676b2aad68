# run: FoldConstant,DropPaddedTaps
# A window dilated beyond the image is a pixel, one of a row loses what lies above and below it; what strides meet stays,
# and an axis of unknown size.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 6, 7), "float32"), y: R.Tensor((1, 1, 9, 4), "float32"), z: R.Tensor((1, 4, "h", 7), "float32")):
        with R.dataflow():
            w = R.ones((2, 4, 3, 3), "float32")
            a = R.nn.conv2d(x, w, padding=[9, 9, 9, 9], dilation=[9, 9])
            b = R.nn.conv2d(y, w, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC")
            c = R.nn.conv2d(x, w, padding=[5, 5, 5, 5], dilation=[5, 5], strides=[2, 2])
            d = R.nn.conv2d(z, w, padding=[9, 9, 9, 9], dilation=[9, 9])
            e = R.nn.conv2d(x, w, padding=[9, 2, 9, 2], dilation=[9, 2])
            gv = (a, b, c, d, e)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

h = TypeVar("h")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 6, 7), dtype="float32"), y: R.Tensor((1, 1, 9, 4), dtype="float32"), z: R.Tensor((1, 4, h, 7), dtype="float32")) -> R.Tuple(R.Tensor((1, 2, 6, 7), dtype="float32"), R.Tensor((1, 1, 9, 2), dtype="float32"), R.Tensor((1, 2, 3, 4), dtype="float32"), R.Tensor((1, 2, h, 7), dtype="float32"), R.Tensor((1, 2, 6, 7), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 4, 1, 1), dtype="float32") = R.strided_slice(metadata["ir.GenericConst"][0], (2, 3), (1, 1), (2, 2), assume_inbound=False)
            a: R.Tensor((1, 2, 6, 7), dtype="float32") = R.nn.conv2d(x, lv, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[9, 9], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv1: R.Tensor((2, 4, 1, 3), dtype="float32") = R.strided_slice(metadata["ir.GenericConst"][0], (2,), (1,), (2,), assume_inbound=False)
            b: R.Tensor((1, 1, 9, 2), dtype="float32") = R.nn.conv2d(y, lv1, strides=[1, 1], padding=[0, 1, 0, 1], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OIHW", out_layout="NHWC", out_dtype=None)
            lv2: R.Tensor((2, 4, 2, 3), dtype="float32") = R.strided_slice(metadata["ir.GenericConst"][0], (2,), (1,), (3,), assume_inbound=False)
            c: R.Tensor((1, 2, 3, 4), dtype="float32") = R.nn.conv2d(x, lv2, strides=[2, 2], padding=[0, 5, 5, 5], dilation=[5, 5], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv3: R.Tensor((2, 4, 3, 1), dtype="float32") = R.strided_slice(metadata["ir.GenericConst"][0], (3,), (1,), (2,), assume_inbound=False)
            d: R.Tensor((1, 2, h, 7), dtype="float32") = R.nn.conv2d(z, lv3, strides=[1, 1], padding=[9, 0, 9, 0], dilation=[9, 9], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv4: R.Tensor((2, 4, 1, 3), dtype="float32") = R.strided_slice(metadata["ir.GenericConst"][0], (2,), (1,), (2,), assume_inbound=False)
            e: R.Tensor((1, 2, 6, 7), dtype="float32") = R.nn.conv2d(x, lv4, strides=[1, 1], padding=[0, 2, 0, 2], dilation=[9, 2], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            gv: R.Tuple(R.Tensor((1, 2, 6, 7), dtype="float32"), R.Tensor((1, 1, 9, 2), dtype="float32"), R.Tensor((1, 2, 3, 4), dtype="float32"), R.Tensor((1, 2, h, 7), dtype="float32"), R.Tensor((1, 2, 6, 7), dtype="float32")) = a, b, c, d, e
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 4, 3, 3], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"},
]}
