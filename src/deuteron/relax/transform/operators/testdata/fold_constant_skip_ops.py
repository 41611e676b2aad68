# run: FoldConstant(skip_ops=[relax.dequantize])
# The integers of a weight are transposed and stay integers.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            t = R.permute_dims(R.const([[1, 2], [3, 4]], "int8"), axes=[1, 0])
            w = R.dequantize(t, R.const(0.5, "float32"), R.const(1, "int8"), axis=0, out_dtype="float32")
            gv = R.matmul(x, w)
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
    def main(x: R.Tensor((2, 2), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
        with R.dataflow():
            w: R.Tensor((2, 2), dtype="float32") = R.dequantize(metadata["ir.GenericConst"][0], R.const(0.5, "float32"), R.const(1, "int8"), out_dtype="float32", axis=0)
            gv: R.Tensor((2, 2), dtype="float32") = R.matmul(x, w, out_dtype=None)
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "int8", "shape": [2, 2], "data": "AQMCBA=="},
]}
