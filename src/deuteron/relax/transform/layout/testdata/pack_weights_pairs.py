# run: FoldConstant,PackWeights,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3
# Bytes less a zero point, and constants that fit int16 but not seven bits, meet in pairs: once for two products of the same data; the last
# of three channels has 0 beside it. Weights beyond int16, data that is no byte, and columns that fill little of a vector
# keep their type.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "uint8"), z: R.Tensor((), "uint8"), y: R.Tensor((1, 3, 4, 4), "int8"), i: R.Tensor((2, 3), "int32")):
        with R.dataflow():
            w = R.astype(x, dtype="int32")
            v = R.astype(z, dtype="int32")
            u = R.subtract(w, v)
            a = R.matmul(u, R.full(R.shape([3, 8]), R.const(-300, "int32"), dtype="int32"))
            b = R.nn.dense(u, R.full(R.shape([8, 3]), R.const(65, "int32"), dtype="int32"))
            c = R.matmul(u, R.full(R.shape([3, 8]), R.const(40000, "int32"), dtype="int32"))
            d = R.matmul(i, R.full(R.shape([3, 8]), R.const(5, "int32"), dtype="int32"))
            e = R.matmul(u, R.full(R.shape([3, 1]), R.const(5, "int32"), dtype="int32"))
            t = R.astype(y, dtype="int32")
            s = R.subtract(t, R.const(4, "int32"))
            f = R.nn.conv2d(s, R.full(R.shape([8, 3, 1, 1]), R.const(-65, "int32"), dtype="int32"), padding=[1, 1, 1, 1])
            gv = (a, b, c, d, e, f)
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
    def main(x: R.Tensor((2, 3), dtype="uint8"), z: R.Tensor((), dtype="uint8"), y: R.Tensor((1, 3, 4, 4), dtype="int8"), i: R.Tensor((2, 3), dtype="int32")) -> R.Tuple(R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 1), dtype="int32"), R.Tensor((1, 8, 6, 6), dtype="int32")):
        with R.dataflow():
            w: R.Tensor((2, 3), dtype="int32") = R.astype(x, dtype="int32")
            v: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            u: R.Tensor((2, 3), dtype="int32") = R.subtract(w, v)
            lv: R.Tensor((2, 2), dtype="int32") = R.pack_i16x2(x, z, axis=-1)
            a: R.Tensor((2, 8), dtype="int32") = R.nn.dense_pack(lv, metadata["ir.GenericConst"][0], columns=8, packing="i16x2", out_dtype="int32")
            b: R.Tensor((2, 8), dtype="int32") = R.nn.dense_pack(lv, metadata["ir.GenericConst"][1], columns=8, packing="i16x2", out_dtype="int32")
            c: R.Tensor((2, 8), dtype="int32") = R.matmul(u, metadata["ir.GenericConst"][2], out_dtype=None)
            d: R.Tensor((2, 8), dtype="int32") = R.matmul(i, metadata["ir.GenericConst"][3], out_dtype=None)
            e: R.Tensor((2, 1), dtype="int32") = R.matmul(u, metadata["ir.GenericConst"][4], out_dtype=None)
            lv1: R.Tensor((1, 2, 4, 4), dtype="int32") = R.pack_i16x2(y, R.const(4, "int32"), axis=1)
            f: R.Tensor((1, 8, 6, 6), dtype="int32") = R.nn.conv_pack(lv1, metadata["ir.GenericConst"][5], strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IHWO", out_layout="NCHW", out_dtype="int32", channels=8, packing="i16x2")
            gv: R.Tuple(R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 8), dtype="int32"), R.Tensor((2, 1), dtype="int32"), R.Tensor((1, 8, 6, 6), dtype="int32")) = a, b, c, d, e, f
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [1, 2, 8], "data": "1P7U/tT+1P7U/tT+1P7U/tT+1P7U/tT+1P7U/tT+1P7U/gAA1P4AANT+AADU/gAA1P4AANT+AADU/gAA1P4AAA=="},
    {"dtype": "int32", "shape": [1, 2, 8], "data": "QQBBAEEAQQBBAEEAQQBBAEEAQQBBAEEAQQBBAEEAQQBBAAAAQQAAAEEAAABBAAAAQQAAAEEAAABBAAAAQQAAAA=="},
    {"dtype": "int32", "shape": [3, 8], "data": "QJwAAECcAABAnAAAQJwAAECcAABAnAAAQJwAAECcAABAnAAAQJwAAECcAABAnAAAQJwAAECcAABAnAAAQJwAAECcAABAnAAAQJwAAECcAABAnAAAQJwAAECcAABAnAAA"},
    {"dtype": "int32", "shape": [3, 8], "data": "BQAAAAUAAAAFAAAABQAAAAUAAAAFAAAABQAAAAUAAAAFAAAABQAAAAUAAAAFAAAABQAAAAUAAAAFAAAABQAAAAUAAAAFAAAABQAAAAUAAAAFAAAABQAAAAUAAAAFAAAA"},
    {"dtype": "int32", "shape": [3, 1], "data": "BQAAAAUAAAAFAAAA"},
    {"dtype": "int32", "shape": [2, 1, 1, 8], "data": "v/+//7//v/+//7//v/+//7//v/+//7//v/+//7//v/+//wAAv/8AAL//AAC//wAAv/8AAL//AAC//wAAv/8AAA=="},
]}
