# run: FoldConstant,PackWeights,DeadCodeElimination
# target: llvm -mcpu=x86-64-v2
# expect: changes
# Pairs of int16 are for targets that multiply and add whole vectors of them.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "uint8")):
        with R.dataflow():
            w = R.astype(x, dtype="int32")
            a = R.matmul(w, R.full(R.shape([4, 8]), R.const(-3, "int32"), dtype="int32"))
            R.output(a)
        return a
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), dtype="uint8")) -> R.Tensor((2, 8), dtype="int32"):
        with R.dataflow():
            w: R.Tensor((2, 4), dtype="int32") = R.astype(x, dtype="int32")
            a: R.Tensor((2, 8), dtype="int32") = R.matmul(w, metadata["ir.GenericConst"][0], out_dtype=None)
            R.output(a)
        return a

metadata = {"ir.GenericConst": [
    {"dtype": "int32", "shape": [4, 8], "data": "/f////3////9/////f////3////9/////f////3////9/////f////3////9/////f////3////9/////f////3////9/////f////3////9/////f////3////9/////f////3////9/////f////3////9/////f////3///8="},
]}
