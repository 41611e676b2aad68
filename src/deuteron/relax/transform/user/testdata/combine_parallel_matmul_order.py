# run: CombineParallelMatmul
@I.ir_module
class Module:
    @R.function
    def weight_made_later(x: R.Tensor((8, 8), "float32"), a: R.Tensor((8, 8), "float32"), b: R.Tensor((6, 8), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            r = R.nn.relu(p)
            t = R.permute_dims(b)
            q = R.matmul(x, t)
            gv = (q, r)
            R.output(gv)
        return gv

    @R.function
    def weight_depends_on_product(x: R.Tensor((8, 8), "float32"), a: R.Tensor((8, 8), "float32"), b: R.Tensor((8, 8), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            r = R.nn.relu(p)
            q = R.matmul(x, r)
            s = R.matmul(x, b)
            gv = (p, q, s)
            R.output(gv)
        return gv

    @R.function
    def groups_depend_on_each_other(x: R.Tensor((8, 8), "float32"), y: R.Tensor((8, 8), "float32"), a: R.Tensor((8, 8), "float32"), b: R.Tensor((8, 8), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(y, p)
            r = R.matmul(y, b)
            s = R.matmul(x, r)
            gv = (q, s)
            R.output(gv)
        return gv

    @R.function
    def repeated_and_constant(x: R.Tensor((8, 2), "float32"), a: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, a)
            r = R.matmul(x, R.const([[1, 2], [3, 4]], "float32"))
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
    def outside_of_dataflow(x: R.Tensor((8, 2), "float32"), a: R.Tensor((2, 3), "float32"), b: R.Tensor((2, 4), "float32")):
        p = R.matmul(x, a)
        q = R.matmul(x, b)
        return (p, q)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def groups_depend_on_each_other(x: R.Tensor((8, 8), dtype="float32"), y: R.Tensor((8, 8), dtype="float32"), a: R.Tensor((8, 8), dtype="float32"), b: R.Tensor((8, 8), dtype="float32")) -> R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")):
        with R.dataflow():
            p: R.Tensor((8, 8), dtype="float32") = R.matmul(x, a, out_dtype=None)
            q: R.Tensor((8, 8), dtype="float32") = R.matmul(y, p, out_dtype=None)
            r: R.Tensor((8, 8), dtype="float32") = R.matmul(y, b, out_dtype=None)
            s: R.Tensor((8, 8), dtype="float32") = R.matmul(x, r, out_dtype=None)
            gv: R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")) = q, s
            R.output(gv)
        return gv

    @R.function
    def outside_of_dataflow(x: R.Tensor((8, 2), dtype="float32"), a: R.Tensor((2, 3), dtype="float32"), b: R.Tensor((2, 4), dtype="float32")) -> R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")):
        gv: R.Tensor((2, 7), dtype="float32") = R.concat((a, b), axis=1)
        gv1: R.Tensor((8, 7), dtype="float32") = R.matmul(x, gv, out_dtype="float32")
        gv2: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 4), dtype="float32")) = R.split(gv1, indices_or_sections=[3], axis=1)
        p: R.Tensor((8, 3), dtype="float32") = gv2[0]
        q: R.Tensor((8, 4), dtype="float32") = gv2[1]
        return (p, q)

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
    def repeated_and_constant(x: R.Tensor((8, 2), dtype="float32"), a: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 2), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 5), dtype="float32") = R.concat((a, metadata["ir.GenericConst"][0]), axis=1)
            lv1: R.Tensor((8, 5), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 2), dtype="float32")) = R.split(lv1, indices_or_sections=[3], axis=1)
            p: R.Tensor((8, 3), dtype="float32") = lv2[0]
            q: R.Tensor((8, 3), dtype="float32") = lv2[0]
            r: R.Tensor((8, 2), dtype="float32") = lv2[1]
            gv: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 2), dtype="float32")) = p, q, r
            R.output(gv)
        return gv

    @R.function
    def weight_depends_on_product(x: R.Tensor((8, 8), dtype="float32"), a: R.Tensor((8, 8), dtype="float32"), b: R.Tensor((8, 8), dtype="float32")) -> R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((8, 16), dtype="float32") = R.concat((a, b), axis=1)
            lv1: R.Tensor((8, 16), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")) = R.split(lv1, indices_or_sections=[8], axis=1)
            p: R.Tensor((8, 8), dtype="float32") = lv2[0]
            r: R.Tensor((8, 8), dtype="float32") = R.nn.relu(p)
            q: R.Tensor((8, 8), dtype="float32") = R.matmul(x, r, out_dtype=None)
            s: R.Tensor((8, 8), dtype="float32") = lv2[1]
            gv: R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")) = p, q, s
            R.output(gv)
        return gv

    @R.function
    def weight_made_later(x: R.Tensor((8, 8), dtype="float32"), a: R.Tensor((8, 8), dtype="float32"), b: R.Tensor((6, 8), dtype="float32")) -> R.Tuple(R.Tensor((8, 6), dtype="float32"), R.Tensor((8, 8), dtype="float32")):
        with R.dataflow():
            t: R.Tensor((8, 6), dtype="float32") = R.permute_dims(b, axes=None)
            lv: R.Tensor((8, 14), dtype="float32") = R.concat((a, t), axis=1)
            lv1: R.Tensor((8, 14), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 6), dtype="float32")) = R.split(lv1, indices_or_sections=[8], axis=1)
            p: R.Tensor((8, 8), dtype="float32") = lv2[0]
            r: R.Tensor((8, 8), dtype="float32") = R.nn.relu(p)
            q: R.Tensor((8, 6), dtype="float32") = lv2[1]
            gv: R.Tuple(R.Tensor((8, 6), dtype="float32"), R.Tensor((8, 8), dtype="float32")) = q, r
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 2], "data": "AACAPwAAAEAAAEBAAACAQA=="},
]}
