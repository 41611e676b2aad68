# run: CombineParallelMatmul
@I.ir_module
class Module:
    @R.function
    def one_symbolic_width(x: R.Tensor((4, 8), "float32"), a: R.Tensor((8, "n"), "float32"), b: R.Tensor((8, 6), "float32"), c: R.Tensor((8, "m"), "float32")):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, b)
            r = R.matmul(x, c)
            gv = (p, q, r)
            R.output(gv)
        return gv

    @R.function
    def batches(x: R.Tensor((2, 4, 8), "float32"), a: R.Tensor((8, 16), "float32"), b: R.Tensor((8, 6), "float32"), c: R.Tensor((2, 8, 5), "float32"), d: R.Tensor((1, 8, 5), "float32"), e: R.Tensor((2, 8, 7), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, c)
            r = R.matmul(x, d)
            s = R.matmul(x, b)
            t = R.matmul(x, e)
            gv = (p, q, r, s, t)
            R.output(gv)
        return gv

    @R.function
    def vector(x: R.Tensor((8,), "float32"), a: R.Tensor((8, 16), "float32"), b: R.Tensor((8, 6), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, b)
            gv = (p, q)
            R.output(gv)
        return gv

    @R.function
    def result_types(x: R.Tensor((4, 8), "float16"), a: R.Tensor((8, 16), "float16"), b: R.Tensor((8, 6), "float16")):
        with R.dataflow():
            p = R.matmul(x, a, out_dtype="float32")
            q = R.matmul(x, b)
            r = R.matmul(x, b, out_dtype="float32")
            gv = (p, q, r)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def batches(x: R.Tensor((2, 4, 8), dtype="float32"), a: R.Tensor((8, 16), dtype="float32"), b: R.Tensor((8, 6), dtype="float32"), c: R.Tensor((2, 8, 5), dtype="float32"), d: R.Tensor((1, 8, 5), dtype="float32"), e: R.Tensor((2, 8, 7), dtype="float32")) -> R.Tuple(R.Tensor((2, 4, 16), dtype="float32"), R.Tensor((2, 4, 5), dtype="float32"), R.Tensor((2, 4, 5), dtype="float32"), R.Tensor((2, 4, 6), dtype="float32"), R.Tensor((2, 4, 7), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((8, 22), dtype="float32") = R.concat((a, b), axis=1)
            lv1: R.Tensor((2, 4, 22), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((2, 4, 16), dtype="float32"), R.Tensor((2, 4, 6), dtype="float32")) = R.split(lv1, indices_or_sections=[16], axis=2)
            p: R.Tensor((2, 4, 16), dtype="float32") = lv2[0]
            lv3: R.Tensor((2, 8, 12), dtype="float32") = R.concat((c, e), axis=2)
            lv4: R.Tensor((2, 4, 12), dtype="float32") = R.matmul(x, lv3, out_dtype="float32")
            lv5: R.Tuple(R.Tensor((2, 4, 5), dtype="float32"), R.Tensor((2, 4, 7), dtype="float32")) = R.split(lv4, indices_or_sections=[5], axis=2)
            q: R.Tensor((2, 4, 5), dtype="float32") = lv5[0]
            r: R.Tensor((2, 4, 5), dtype="float32") = R.matmul(x, d, out_dtype=None)
            s: R.Tensor((2, 4, 6), dtype="float32") = lv2[1]
            t: R.Tensor((2, 4, 7), dtype="float32") = lv5[1]
            gv: R.Tuple(R.Tensor((2, 4, 16), dtype="float32"), R.Tensor((2, 4, 5), dtype="float32"), R.Tensor((2, 4, 5), dtype="float32"), R.Tensor((2, 4, 6), dtype="float32"), R.Tensor((2, 4, 7), dtype="float32")) = p, q, r, s, t
            R.output(gv)
        return gv

    @R.function
    def one_symbolic_width(x: R.Tensor((4, 8), dtype="float32"), a: R.Tensor((8, n), dtype="float32"), b: R.Tensor((8, 6), dtype="float32"), c: R.Tensor((8, m), dtype="float32")) -> R.Tuple(R.Tensor((4, n), dtype="float32"), R.Tensor((4, 6), dtype="float32"), R.Tensor((4, m), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((8, n + 6), dtype="float32") = R.concat((b, a), axis=1)
            lv1: R.Tensor((4, n + 6), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((4, 6), dtype="float32"), R.Tensor((4, n), dtype="float32")) = R.split(lv1, indices_or_sections=[6], axis=1)
            p: R.Tensor((4, n), dtype="float32") = lv2[1]
            q: R.Tensor((4, 6), dtype="float32") = lv2[0]
            r: R.Tensor((4, m), dtype="float32") = R.matmul(x, c, out_dtype=None)
            gv: R.Tuple(R.Tensor((4, n), dtype="float32"), R.Tensor((4, 6), dtype="float32"), R.Tensor((4, m), dtype="float32")) = p, q, r
            R.output(gv)
        return gv

    @R.function
    def result_types(x: R.Tensor((4, 8), dtype="float16"), a: R.Tensor((8, 16), dtype="float16"), b: R.Tensor((8, 6), dtype="float16")) -> R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float16"), R.Tensor((4, 6), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((8, 22), dtype="float16") = R.concat((a, b), axis=1)
            lv1: R.Tensor((4, 22), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float32")) = R.split(lv1, indices_or_sections=[16], axis=1)
            p: R.Tensor((4, 16), dtype="float32") = lv2[0]
            q: R.Tensor((4, 6), dtype="float16") = R.matmul(x, b, out_dtype=None)
            r: R.Tensor((4, 6), dtype="float32") = lv2[1]
            gv: R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 6), dtype="float16"), R.Tensor((4, 6), dtype="float32")) = p, q, r
            R.output(gv)
        return gv

    @R.function
    def vector(x: R.Tensor((8,), dtype="float32"), a: R.Tensor((8, 16), dtype="float32"), b: R.Tensor((8, 6), dtype="float32")) -> R.Tuple(R.Tensor((16,), dtype="float32"), R.Tensor((6,), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((8, 22), dtype="float32") = R.concat((a, b), axis=1)
            lv1: R.Tensor((22,), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((16,), dtype="float32"), R.Tensor((6,), dtype="float32")) = R.split(lv1, indices_or_sections=[16], axis=0)
            p: R.Tensor((16,), dtype="float32") = lv2[0]
            q: R.Tensor((6,), dtype="float32") = lv2[1]
            gv: R.Tuple(R.Tensor((16,), dtype="float32"), R.Tensor((6,), dtype="float32")) = p, q
            R.output(gv)
        return gv
