# run: FoldConstant,PackWeights,DeadCodeElimination,FoldConstant
# target: neoverse-n1
# The same where both operands are multiplied as signed bytes.
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
            lv1: R.Tensor((2, 4, 2), dtype="int32") = R.bitwise_xor(lv, R.const(-2139062144, "int32"))
            lv2: R.Tensor((2, 2, 3), dtype="int32") = R.pack_i8x4(y, axis=1)
            lv3: R.Tensor((2, 4, 3), dtype="int32") = R.matmul_pack(lv1, lv2, packing="i8x4")
            lv5: R.Tensor((2, 1, 3), dtype="int32") = R.matmul_pack(metadata["ir.GenericConst"][0], lv2, packing="i8x4")
            lv6: R.Tensor((2, 1, 3), dtype="int32") = R.multiply(lv5, R.const(-121, "int32"))
            a: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv3, lv6)
            wz: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv8: R.Tensor((2, 3, 2), dtype="int32") = R.memory.view(k, R.shape([2, 3, 2]), R.dtype("int32"), R.tuple())
            lv9: R.Tensor((2, 2, 3), dtype="int32") = R.permute_dims(lv8, axes=[0, 2, 1])
            lv10: R.Tensor((2, 2, 3), dtype="int32") = R.bitwise_xor(lv9, R.const(-2139062144, "int32"))
            lv11: R.Tensor((2, 4, 3), dtype="int32") = R.matmul_pack(lv1, lv10, packing="i8x4")
            lv13: R.Tensor((2, 1, 3), dtype="int32") = R.matmul_pack(metadata["ir.GenericConst"][1], lv10, packing="i8x4")
            lv14: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv15: R.Tensor((), dtype="int32") = R.add(lv14, R.const(-128, "int32"))
            lv16: R.Tensor((2, 1, 3), dtype="int32") = R.multiply(lv13, lv15)
            b: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv11, lv16)
            lv17: R.Tensor((2, 4, 3), dtype="int32") = R.matmul_pack(lv1, lv2, packing="i8x4")
            lv19: R.Tensor((2, 1, 3), dtype="int32") = R.matmul_pack(metadata["ir.GenericConst"][2], lv2, packing="i8x4")
            lv20: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv21: R.Tensor((), dtype="int32") = R.add(lv20, R.const(-128, "int32"))
            lv22: R.Tensor((2, 1, 3), dtype="int32") = R.multiply(lv19, lv21)
            lv24: R.Tensor((2, 4), dtype="int32") = R.matmul_pack(lv1, metadata["ir.GenericConst"][3], packing="i8x4")
            lv25: R.Tensor((), dtype="int32") = R.astype(z, dtype="int32")
            lv26: R.Tensor((), dtype="int32") = R.add(lv25, R.const(-128, "int32"))
            lv27: R.Tensor((), dtype="int32") = R.multiply(lv26, R.const(8, "int32"))
            lv28: R.Tensor((2, 4), dtype="int32") = R.subtract(lv24, lv27)
            lv29: R.Tensor((2, 4), dtype="int32") = R.multiply(lv28, R.const(1, "int32"))
            lv30: R.Tensor((2, 4, 1), dtype="int32") = R.expand_dims(lv29, axis=[-1])
            lv31: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv17, lv22)
            c: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv31, lv30)
            wr: R.Tensor((2, 4, n), dtype="int32") = R.astype(r, dtype="int32")
            ws: R.Tensor((2, n, 3), dtype="int32") = R.astype(s, dtype="int32")
            lv32: R.Tensor((2, 4, (n + 3) // 4), dtype="int32") = R.pack_i8x4(r, axis=2)
            lv33: R.Tensor((2, (n + 3) // 4, 3), dtype="int32") = R.pack_i8x4(s, axis=1)
            lv34: R.Tensor((2, 4, 3), dtype="int32") = R.matmul_pack(lv32, lv33, packing="i8x4")
            lv35: R.Tensor((1, (n + 3) // 4), dtype="int32") = R.full(R.shape([1, (n + 3) // 4]), R.const(16843009, "int32"), dtype=None)
            lv36: R.Tensor((2, 1, 3), dtype="int32") = R.matmul_pack(lv35, lv33, packing="i8x4")
            lv37: R.Tensor((2, 1, 3), dtype="int32") = R.multiply(lv36, R.const(-128, "int32"))
            d: R.Tensor((2, 4, 3), dtype="int32") = R.subtract(lv34, lv37)
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
