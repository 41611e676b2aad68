# run: FoldConstant,ConvTransposeToConv
# Strides that divide the kernel and that do not, groups, cropping, a symbolic length; a kernel that is no constant and
# a dilated one stay.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2, "l"), "float32"), y: R.Tensor((1, 2, 3, 4), "float32"), w: R.Tensor((2, 1, 2, 2), "float32")):
        with R.dataflow():
            a = R.nn.conv1d_transpose(x, R.ones((2, 1, 4), "float32"), strides=[2], padding=[1, 1])
            b = R.nn.conv2d_transpose(y, R.ones((2, 1, 2, 2), "float32"), strides=[2, 2], groups=2)
            c = R.nn.conv2d_transpose(y, R.ones((2, 1, 3, 3), "float32"), strides=[2, 1], padding=[1, 1, 1, 1], output_padding=[1, 0])
            d = R.nn.conv2d_transpose(y, w, strides=[2, 2])
            e = R.nn.conv2d_transpose(y, R.ones((2, 1, 2, 2), "float32"), dilation=[2, 2])
            gv = (a, b, c, d, e)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
l = TypeVar("l")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 2, l), dtype="float32"), y: R.Tensor((1, 2, 3, 4), dtype="float32"), w: R.Tensor((2, 1, 2, 2), dtype="float32")) -> R.Tuple(R.Tensor((n, 1, "l * 2"), dtype="float32"), R.Tensor((1, 2, 6, 8), dtype="float32"), R.Tensor((1, 1, 6, 4), dtype="float32"), R.Tensor((1, 1, 6, 8), dtype="float32"), R.Tensor((1, 1, 5, 6), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((n, 2, l + 1), dtype="float32") = R.nn.conv1d(x, metadata["ir.GenericConst"][0], strides=[1], padding=[1, 1], dilation=[1], groups=1, data_layout="NCW", kernel_layout="OIW", out_layout="NCW", out_dtype=None)
            lv1: R.Tensor((n, 1, 2, 1, l + 1), dtype="float32") = R.reshape(lv, R.shape([n, 1, 2, 1, l + 1]))
            lv2: R.Tensor((n, 1, 1, l + 1, 2), dtype="float32") = R.permute_dims(lv1, axes=[0, 1, 3, 4, 2])
            lv3: R.Tensor((n, 1, l * 2 + 2), dtype="float32") = R.reshape(lv2, R.shape([n, 1, l * 2 + 2]))
            a: R.Tensor((n, 1, l * 2), dtype="float32") = R.strided_slice(lv3, (2,), (1,), (l * 2 + 1,), assume_inbound=True)
            lv4: R.Tensor((1, 8, 3, 4), dtype="float32") = R.nn.conv2d(y, metadata["ir.GenericConst"][1], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv5: R.Tensor((1, 2, 2, 2, 1, 3, 4), dtype="float32") = R.reshape(lv4, R.shape([1, 2, 2, 2, 1, 3, 4]))
            lv6: R.Tensor((1, 2, 1, 3, 2, 4, 2), dtype="float32") = R.permute_dims(lv5, axes=[0, 1, 4, 5, 2, 6, 3])
            b: R.Tensor((1, 2, 6, 8), dtype="float32") = R.reshape(lv6, R.shape([1, 2, 6, 8]))
            lv7: R.Tensor((1, 2, 4, 4), dtype="float32") = R.nn.conv2d(y, metadata["ir.GenericConst"][2], strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv8: R.Tensor((1, 1, 2, 1, 1, 4, 4), dtype="float32") = R.reshape(lv7, R.shape([1, 1, 2, 1, 1, 4, 4]))
            lv9: R.Tensor((1, 1, 1, 4, 2, 4, 1), dtype="float32") = R.permute_dims(lv8, axes=[0, 1, 4, 5, 2, 6, 3])
            lv10: R.Tensor((1, 1, 8, 4), dtype="float32") = R.reshape(lv9, R.shape([1, 1, 8, 4]))
            c: R.Tensor((1, 1, 6, 4), dtype="float32") = R.strided_slice(lv10, (2,), (1,), (7,), assume_inbound=True)
            d: R.Tensor((1, 1, 6, 8), dtype="float32") = R.nn.conv2d_transpose(y, w, strides=[2, 2], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IOHW", out_layout="NCHW", out_dtype=None)
            e: R.Tensor((1, 1, 5, 6), dtype="float32") = R.nn.conv2d_transpose(y, metadata["ir.GenericConst"][3], strides=[1, 1], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[2, 2], groups=1, data_layout="NCHW", kernel_layout="IOHW", out_layout="NCHW", out_dtype=None)
            gv: R.Tuple(R.Tensor((n, 1, l * 2), dtype="float32"), R.Tensor((1, 2, 6, 8), dtype="float32"), R.Tensor((1, 1, 6, 4), dtype="float32"), R.Tensor((1, 1, 6, 8), dtype="float32"), R.Tensor((1, 1, 5, 6), dtype="float32")) = a, b, c, d, e
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 2, 2], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8="},
    {"dtype": "float32", "shape": [8, 1, 1, 1], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8="},
    {"dtype": "float32", "shape": [2, 2, 2, 3], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AAAAAAAAAAAAAAAAAACAPwAAgD8AAIA/AAAAAAAAAAAAAAAAAACAPwAAgD8AAIA/"},
    {"dtype": "float32", "shape": [2, 1, 2, 2], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8="},
]}
