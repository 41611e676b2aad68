# run: FoldConstant,PackWeights,DeadCodeElimination,FoldConstant
# target: llvm -mcpu=x86-64-v3 -mattr=+avxvnni
# Bytes that the run gives meet in fours, and what zero points make of the sums is subtracted. Fours that lie beside each
# other before they are transposed are transposed as such. How often a zero point is added up has to be known.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, 8), "uint8"), y: R.Tensor((2, 8, 3), "int8"), k: R.Tensor((2, 3, 8), "uint8"), z: R.Tensor((), "uint8"), r: R.Tensor((2, 4, "n"), "uint8"), s: R.Tensor((2, "n", 3), "int8")):
        n = T.int64()
        with R.dataflow():
            wx = R.astype(x, dtype="int32")
            cx = R.subtract(wx, R.const(7, "int32"))
            wy = R.astype(y, dtype="int32")
            a = R.matmul(cx, wy)
            wz = R.astype(z, dtype="int32")
            dx = R.subtract(wx, wz)
            wk = R.astype(k, dtype="int32")
            ck = R.subtract(wk, R.const(128, "int32"))
            tk = R.permute_dims(ck, axes=[0, 2, 1])
            b = R.matmul(dx, tk)
            dy = R.subtract(wy, R.const(1, "int32"))
            c = R.matmul(dx, dy)
            wr = R.astype(r, dtype="int32")
            ws = R.astype(s, dtype="int32")
            d = R.matmul(wr, ws)
            cr = R.subtract(wr, wz)
            cs = R.subtract(ws, wz)
            e = R.matmul(cr, cs)
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
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, 8), dtype="uint8"), y: R.Tensor((2, 8, 3), dtype="int8"), k: R.Tensor((2, 3, 8), dtype="uint8"), z: R.Tensor((), dtype="uint8"), r: R.Tensor((2, 4, n), dtype="uint8"), s: R.Tensor((2, n, 3), dtype="int8")) -> R.Tuple(R.Tensor((2, 4, 3), dtype="int32"), R.Tensor((2, 4, 3), dtype="int32"), R.Tensor((2, 4, 3), dtype="int32"), R.Tensor((2, 4, 3), dtype="int32"), R.Tensor((2, 4, 3), dtype="int32")):
        with R.dataflow():
            lv: R.Tensor((2, 4, 2), dtype="int32") = R.memory.view(x, R.shape([2, 4, 2]), R.dtype("int32"), R.tuple())
            lv1: R.Tensor((2, 2, 3), dtype="int32") = R.pack_i8x4(y, axis=1)
            lv2: R.Tensor((2, 4, 3), dtype="int32") = R.matmul_pack(lv, lv1, packing="u8i8x4")
            lv4: R.Tensor((2, 1, 3), dtype="int32") = R.matmul_pack(metadata["ir.GenericConst"][0], lv1, packing="u8i8x4")
            lv5: R.Tensor((2, 1, 3), dtype="int32") = R.multiply(lv4, R.const(7, "int32"))
            a: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv2, lv5)
            wz: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv7: R.Tensor((2, 3, 2), dtype="int32") = R.memory.view(k, R.shape([2, 3, 2]), R.dtype("int32"), R.tuple())
            lv8: R.Tensor((2, 2, 3), dtype="int32") = R.permute_dims(lv7, axes=[0, 2, 1])
            lv9: R.Tensor((2, 2, 3), dtype="int32") = R.bitwise_xor(lv8, R.const(-2139062144, "int32"))
            lv10: R.Tensor((2, 4, 3), dtype="int32") = R.matmul_pack(lv, lv9, packing="u8i8x4")
            lv12: R.Tensor((2, 1, 3), dtype="int32") = R.matmul_pack(metadata["ir.GenericConst"][1], lv9, packing="u8i8x4")
            lv13: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv14: R.Tensor((2, 1, 3), dtype="int32") = R.multiply(lv12, lv13)
            b: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv10, lv14)
            lv15: R.Tensor((2, 4, 3), dtype="int32") = R.matmul_pack(lv, lv1, packing="u8i8x4")
            lv17: R.Tensor((2, 1, 3), dtype="int32") = R.matmul_pack(metadata["ir.GenericConst"][2], lv1, packing="u8i8x4")
            lv18: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv19: R.Tensor((2, 1, 3), dtype="int32") = R.multiply(lv17, lv18)
            lv21: R.Tensor((2, 4), dtype="int32") = R.matmul_pack(lv, metadata["ir.GenericConst"][3], packing="u8i8x4")
            lv22: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv23: R.Tensor((), dtype="int32") = R.multiply(lv22, R.const(8, "int32"))
            lv24: R.Tensor((2, 4), dtype="int32") = R.subtract(lv21, lv23)
            lv25: R.Tensor((2, 4), dtype="int32") = R.multiply(lv24, R.const(1, "int32"))
            lv26: R.Tensor((2, 4, 1), dtype="int32") = R.expand_dims(lv25, axis=[-1])
            lv27: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv15, lv19)
            c: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv27, lv26)
            wr: R.Tensor((2, 4, n), dtype="int32") = R.astype(r, dtype="int32")
            ws: R.Tensor((2, n, 3), dtype="int32") = R.astype(s, dtype="int32")
            lv28: R.Tensor((2, 4, (n + 3) // 4), dtype="int32") = R.pack_u8x4(r, axis=2)
            lv29: R.Tensor((2, (n + 3) // 4, 3), dtype="int32") = R.pack_i8x4(s, axis=1)
            d: R.Tensor((2, 4, 3), dtype="int32") = R.matmul_pack(lv28, lv29, packing="u8i8x4")
            cr: R.Tensor((2, 4, n), dtype="int32") = R.subtract(wr, wz)
            cs: R.Tensor((2, n, 3), dtype="int32") = R.subtract(ws, wz)
            e: R.Tensor((2, 4, 3), dtype="int32") = R.matmul(cr, cs, out_dtype=None)
            gv: R.Tuple(R.Tensor((2, 4, 3), dtype="int32"), R.Tensor((2, 4, 3), dtype="int32"), R.Tensor((2, 4, 3), dtype="int32"), R.Tensor((2, 4, 3), dtype="int32"), R.Tensor((2, 4, 3), dtype="int32")) = a, b, c, d, e
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [1, 2], "data": "AQEBAQEBAQE="},
    {"dtype": "int32", "shape": [1, 2], "data": "AQEBAQEBAQE="},
    {"dtype": "int32", "shape": [1, 2], "data": "AQEBAQEBAQE="},
    {"dtype": "int32", "shape": [2], "data": "AQEBAQEBAQE="},
]}
