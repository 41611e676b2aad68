# run: CombineParallelMatmul,FoldConstant,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 2), "float32")):
        with R.dataflow():
            p = R.matmul(x, R.const([[1, 2, 3], [4, 5, 6]], "float32"))
            q = R.matmul(x, R.const([[7], [8]], "float32"))
            gv = (p, q)
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
    def main(x: R.Tensor((8, 2), dtype="float32")) -> R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 1), dtype="float32")):
        with R.dataflow():
            lv1: R.Tensor((8, 4), dtype="float32") = R.matmul(x, metadata["ir.GenericConst"][0], out_dtype="float32")
            lv2: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 1), dtype="float32")) = R.split(lv1, indices_or_sections=[3], axis=1)
            p: R.Tensor((8, 3), dtype="float32") = lv2[0]
            q: R.Tensor((8, 1), dtype="float32") = lv2[1]
            gv: R.Tuple(R.Tensor((8, 3), dtype="float32"), R.Tensor((8, 1), dtype="float32")) = p, q
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 4], "data": "AACAPwAAAEAAAEBAAADgQAAAgEAAAKBAAADAQAAAAEE="},
]}
