# run: CombineParallelMatmul
@I.ir_module
class Module:
    @R.function
    def repeated(x: R.Tensor((8, 2), "float32"), a: R.Tensor((2, 3), "float32"), b: R.Tensor((2, 4), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, a)
            r = R.matmul(x, b)
            gv = (p, q, r)
            R.output(gv)
        return gv

    @R.function
    def product_used_twice(x: R.Tensor((8, 2), "float32"), a: R.Tensor((2, 3), "float32"), b: R.Tensor((2, 4), "float32"), c: R.Tensor((3,), "float32"), d: R.Tensor((4,), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, b)
            r = R.add(p, c)
            s = R.add(q, d)
            gv = (p, r, s)
            R.output(gv)
        return gv

    @R.function
    def bias_on_the_left(x: R.Tensor((8, 2), "float32"), a: R.Tensor((2, 3), "float32"), b: R.Tensor((2, 4), "float32"), c: R.Tensor((3,), "float32"), d: R.Tensor((4,), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, b)
            r = R.add(c, p)
            s = R.add(q, d)
            gv = (r, s)
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
    def bias_on_the_left(x: R.Tensor((8, 2), dtype="float32"), a: R.Tensor((2, 3), dtype="float32"), b: R.Tensor((2, 4), dtype="float32"), c: R.Tensor((3,), dtype="float32"), d: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 7), dtype="float32") = R.concat((a, b), axis=1)
            lv1: R.Tensor((8, 7), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tensor((7,), dtype="float32") = R.concat((c, d), axis=0)
            lv3: R.Tensor((8, 7), dtype="float32") = R.add(lv1, lv2)
            lv4: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")) = R.split(lv3, indices_or_sections=[3], axis=1)
            r: R.Tensor((8, 3), dtype="float32") = lv4[0]
            s: R.Tensor((8, 4), dtype="float32") = lv4[1]
            gv: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")) = r, s
            R.output(gv)
        return gv

    @R.function
    def product_used_twice(x: R.Tensor((8, 2), dtype="float32"), a: R.Tensor((2, 3), dtype="float32"), b: R.Tensor((2, 4), dtype="float32"), c: R.Tensor((3,), dtype="float32"), d: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 7), dtype="float32") = R.concat((a, b), axis=1)
            lv1: R.Tensor((8, 7), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")) = R.split(lv1, indices_or_sections=[3], axis=1)
            p: R.Tensor((8, 3), dtype="float32") = lv2[0]
            q: R.Tensor((8, 4), dtype="float32") = lv2[1]
            r: R.Tensor((8, 3), dtype="float32") = R.add(p, c)
            s: R.Tensor((8, 4), dtype="float32") = R.add(q, d)
            gv: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")) = p, r, s
            R.output(gv)
        return gv

    @R.function
    def repeated(x: R.Tensor((8, 2), dtype="float32"), a: R.Tensor((2, 3), dtype="float32"), b: R.Tensor((2, 4), dtype="float32")) -> R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 7), dtype="float32") = R.concat((a, b), axis=1)
            lv1: R.Tensor((8, 7), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")) = R.split(lv1, indices_or_sections=[3], axis=1)
            p: R.Tensor((8, 3), dtype="float32") = lv2[0]
            q: R.Tensor((8, 3), dtype="float32") = lv2[0]
            r: R.Tensor((8, 4), dtype="float32") = lv2[1]
            gv: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")) = p, q, r
            R.output(gv)
        return gv
