# run: ByteWeights
# Weights that products read in int32 are read as bytes: with a sign and no zero point as they lie, others less a zero
# point where what is left has a sign. What else reads them goes on doing so.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), "int32"), l: R.Tensor((1, 2, 4), "int32"), y: R.Tensor((2, 2), "int32")):
        with R.dataflow():
            a0 = R.astype(R.const([[[[1]], [[-2]]], [[[3]], [[4]]]], "int8"), "int32")
            a1 = R.subtract(a0, R.astype(R.const([[[[0]]], [[[0]]]], "int8"), "int32"))
            a = R.nn.conv2d(x, a1)
            b1 = R.astype(R.const([[[1], [2]]], "int8"), "int32")
            b = R.nn.conv1d(l, b1)
            c0 = R.astype(R.const([[0, 255], [128, 127]], "uint8"), "int32")
            c1 = R.subtract(c0, R.astype(R.const(128, "uint8"), "int32"))
            c = R.matmul(y, c1)
            d = R.add(y, c1)
            gv = (a, b, c, d)
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
    def main(x: R.Tensor((1, 2, 4, 4), dtype="int32"), l: R.Tensor((1, 2, 4), dtype="int32"), y: R.Tensor((2, 2), dtype="int32")) -> R.Tuple(R.Tensor((1, 2, 4, 4), dtype="int32"), R.Tensor((1, 1, 4), dtype="int32"), R.Tensor((2, 2), dtype="int32"), R.Tensor((2, 2), dtype="int32")):
        with R.dataflow():
            a: R.Tensor((1, 2, 4, 4), dtype="int32") = R.nn.conv2d(x, metadata["ir.GenericConst"][0], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="int32")
            b: R.Tensor((1, 1, 4), dtype="int32") = R.nn.conv1d(l, metadata["ir.GenericConst"][1], strides=[1], padding=[0, 0], dilation=[1], groups=1, data_layout="NCW", kernel_layout="OIW", out_layout="NCW", out_dtype="int32")
            c0: R.Tensor((2, 2), dtype="int32") = R.astype(metadata["ir.GenericConst"][2], dtype="int32")
            lv1: R.Tensor((), dtype="int32") = R.astype(R.const(128, "uint8"), dtype="int32")
            c1: R.Tensor((2, 2), dtype="int32") = R.subtract(c0, lv1)
            c: R.Tensor((2, 2), dtype="int32") = R.matmul(y, metadata["ir.GenericConst"][3], out_dtype="int32")
            d: R.Tensor((2, 2), dtype="int32") = R.add(y, c1)
            gv: R.Tuple(R.Tensor((1, 2, 4, 4), dtype="int32"), R.Tensor((1, 1, 4), dtype="int32"), R.Tensor((2, 2), dtype="int32"), R.Tensor((2, 2), dtype="int32")) = a, b, c, d
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int8", "shape": [2, 2, 1, 1], "data": "Af4DBA=="},
    {"dtype": "int8", "shape": [1, 2, 1], "data": "AQI="},
    {"dtype": "uint8", "shape": [2, 2], "data": "AP+Afw=="},
    {"dtype": "int8", "shape": [2, 2], "data": "gH8A/w=="},
]}
