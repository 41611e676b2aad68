# run: ByteWeights
# Not bytes with a sign, zero points of channels, groups, weights that the run gives, other widths.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), "int32"), y: R.Tensor((2, 2), "int32"), w: R.Tensor((2, 2), "int8"), f: R.Tensor((2, 2), "int64")):
        with R.dataflow():
            a0 = R.astype(R.const([[0, 255], [128, 127]], "uint8"), "int32")
            a = R.matmul(y, a0)
            b0 = R.subtract(a0, R.astype(R.const(127, "uint8"), "int32"))
            b = R.matmul(y, b0)
            c0 = R.astype(R.const([[1, 2], [3, 4]], "int8"), "int32")
            c1 = R.subtract(c0, R.astype(R.const([0, 1], "int8"), "int32"))
            c = R.matmul(y, c1)
            d0 = R.astype(R.const([[[[1]]], [[[3]]]], "int8"), "int32")
            d = R.nn.conv2d(x, d0, groups=2)
            e = R.matmul(y, R.astype(w, "int32"))
            g = R.matmul(f, R.astype(R.const([[1, 2], [3, 4]], "int8"), "int64"))
            h1 = R.subtract(R.astype(R.const([[1, 2]], "int8"), "int32"), R.astype(R.const([[0, 0], [0, 0]], "int8"), "int32"))
            h = R.matmul(y, h1)
            gv = (a, b, c, d, e, g, h)
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
    def main(x: R.Tensor((1, 2, 4, 4), dtype="int32"), y: R.Tensor((2, 2), dtype="int32"), w: R.Tensor((2, 2), dtype="int8"), f: R.Tensor((2, 2), dtype="int64")) -> R.Tuple(R.Tensor((2, 2), dtype="int32"), R.Tensor((2, 2), dtype="int32"), R.Tensor((2, 2), dtype="int32"), R.Tensor((1, 2, 4, 4), dtype="int32"), R.Tensor((2, 2), dtype="int32"), R.Tensor((2, 2), dtype="int64"), R.Tensor((2, 2), dtype="int32")):
        with R.dataflow():
            a0: R.Tensor((2, 2), dtype="int32") = R.astype(metadata["ir.GenericConst"][0], dtype="int32")
            a: R.Tensor((2, 2), dtype="int32") = R.matmul(y, a0, out_dtype=None)
            lv: R.Tensor((), dtype="int32") = R.astype(R.const(127, "uint8"), dtype="int32")
            b0: R.Tensor((2, 2), dtype="int32") = R.subtract(a0, lv)
            b: R.Tensor((2, 2), dtype="int32") = R.matmul(y, b0, out_dtype=None)
            c0: R.Tensor((2, 2), dtype="int32") = R.astype(metadata["ir.GenericConst"][1], dtype="int32")
            lv1: R.Tensor((2,), dtype="int32") = R.astype(metadata["ir.GenericConst"][2], dtype="int32")
            c1: R.Tensor((2, 2), dtype="int32") = R.subtract(c0, lv1)
            c: R.Tensor((2, 2), dtype="int32") = R.matmul(y, c1, out_dtype=None)
            d0: R.Tensor((2, 1, 1, 1), dtype="int32") = R.astype(metadata["ir.GenericConst"][3], dtype="int32")
            d: R.Tensor((1, 2, 4, 4), dtype="int32") = R.nn.conv2d(x, d0, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv2: R.Tensor((2, 2), dtype="int32") = R.astype(w, dtype="int32")
            e: R.Tensor((2, 2), dtype="int32") = R.matmul(y, lv2, out_dtype=None)
            lv3: R.Tensor((2, 2), dtype="int64") = R.astype(metadata["ir.GenericConst"][4], dtype="int64")
            g: R.Tensor((2, 2), dtype="int64") = R.matmul(f, lv3, out_dtype=None)
            lv4: R.Tensor((1, 2), dtype="int32") = R.astype(metadata["ir.GenericConst"][5], dtype="int32")
            lv5: R.Tensor((2, 2), dtype="int32") = R.astype(metadata["ir.GenericConst"][6], dtype="int32")
            h1: R.Tensor((2, 2), dtype="int32") = R.subtract(lv4, lv5)
            h: R.Tensor((2, 2), dtype="int32") = R.matmul(y, h1, out_dtype=None)
            gv: R.Tuple(R.Tensor((2, 2), dtype="int32"), R.Tensor((2, 2), dtype="int32"), R.Tensor((2, 2), dtype="int32"), R.Tensor((1, 2, 4, 4), dtype="int32"), R.Tensor((2, 2), dtype="int32"), R.Tensor((2, 2), dtype="int64"), R.Tensor((2, 2), dtype="int32")) = a, b, c, d, e, g, h
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "uint8", "shape": [2, 2], "data": "AP+Afw=="},
    {"dtype": "int8", "shape": [2, 2], "data": "AQIDBA=="},
    {"dtype": "int8", "shape": [2], "data": "AAE="},
    {"dtype": "int8", "shape": [2, 1, 1, 1], "data": "AQM="},
    {"dtype": "int8", "shape": [2, 2], "data": "AQIDBA=="},
    {"dtype": "int8", "shape": [1, 2], "data": "AQI="},
    {"dtype": "int8", "shape": [2, 2], "data": "AAAAAA=="},
]}
