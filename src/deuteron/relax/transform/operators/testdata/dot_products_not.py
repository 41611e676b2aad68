# run: DotProducts
# expect: no changes
# Two rows, an attention's scores, a constant, integers, a matrix whose rows are not those that are summed.
@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor((2, 8), "float32"), r: R.Tensor((1, 8), "float32"), w: R.Tensor((5, 8), "float32"),
             i: R.Tensor((1, 8), "int32"), j: R.Tensor((5, 8), "int32"), k: R.Tensor((2, 8, 5), "float32")):
        with R.dataflow():
            b = R.permute_dims(w)
            x = R.matmul(a, b)
            s = R.matmul(r, b)
            e = R.multiply(s, R.const(0.5, "float32"))
            y = R.nn.softmax(e)
            o = R.exp(R.const([[1, 2], [3, 4]], "float32"))
            p = R.permute_dims(o)
            z = R.matmul(R.const([[1, 2]], "float32"), p)
            c = R.permute_dims(j)
            u = R.matmul(i, c)
            d = R.permute_dims(k, axes=[1, 0, 2])
            f = R.matmul(R.strided_slice(r, (1,), (0,), (2,), assume_inbound=True), d)
            R.output(x, y, z, u, f)
        return (x, y, z, u, f)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor((2, 8), dtype="float32"), r: R.Tensor((1, 8), dtype="float32"), w: R.Tensor((5, 8), dtype="float32"), i: R.Tensor((1, 8), dtype="int32"), j: R.Tensor((5, 8), dtype="int32"), k: R.Tensor((2, 8, 5), dtype="float32")) -> R.Tuple(R.Tensor((2, 5), dtype="float32"), R.Tensor((1, 5), dtype="float32"), R.Tensor((1, 2), dtype="float32"), R.Tensor((1, 5), dtype="int32"), R.Tensor((8, 1, 5), dtype="float32")):
        with R.dataflow():
            b: R.Tensor((8, 5), dtype="float32") = R.permute_dims(w, axes=None)
            x: R.Tensor((2, 5), dtype="float32") = R.matmul(a, b, out_dtype=None)
            s: R.Tensor((1, 5), dtype="float32") = R.matmul(r, b, out_dtype=None)
            e: R.Tensor((1, 5), dtype="float32") = R.multiply(s, R.const(0.5, "float32"))
            y: R.Tensor((1, 5), dtype="float32") = R.nn.softmax(e, axis=-1)
            o: R.Tensor((2, 2), dtype="float32") = R.exp(metadata["ir.GenericConst"][0])
            p: R.Tensor((2, 2), dtype="float32") = R.permute_dims(o, axes=None)
            z: R.Tensor((1, 2), dtype="float32") = R.matmul(metadata["ir.GenericConst"][1], p, out_dtype=None)
            c: R.Tensor((8, 5), dtype="int32") = R.permute_dims(j, axes=None)
            u: R.Tensor((1, 5), dtype="int32") = R.matmul(i, c, out_dtype=None)
            d: R.Tensor((8, 2, 5), dtype="float32") = R.permute_dims(k, axes=[1, 0, 2])
            lv: R.Tensor((1, 2), dtype="float32") = R.strided_slice(r, (1,), (0,), (2,), assume_inbound=True)
            f: R.Tensor((8, 1, 5), dtype="float32") = R.matmul(lv, d, out_dtype=None)
            R.output(x, y, z, u, f)
        return (x, y, z, u, f)

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 2], "data": "AACAPwAAAEAAAEBAAACAQA=="},
    {"dtype": "float32", "shape": [1, 2], "data": "AACAPwAAAEA="},
]}
