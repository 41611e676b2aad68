# run: EliminateCommonSubexpr
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            gv0 = R.add(x, y)
            lv0 = R.add(x, y)
            gv1 = R.add(x, lv0)
            gv2 = lv0
            R.output(gv0, gv1, gv2)
        w = R.add(x, y)
        e = R.exp(gv2)
        f = R.add(x, w)
        g = R.add(x, gv2)
        return (w, e, f, g)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            gv0: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
            lv0: R.Tensor((2, 3), dtype="float32") = gv0
            gv1: R.Tensor((2, 3), dtype="float32") = R.add(x, gv0)
            gv2: R.Tensor((2, 3), dtype="float32") = gv0
            R.output(gv0, gv1, gv2)
        w: R.Tensor((2, 3), dtype="float32") = gv0
        e: R.Tensor((2, 3), dtype="float32") = R.exp(gv2)
        f: R.Tensor((2, 3), dtype="float32") = gv1
        g: R.Tensor((2, 3), dtype="float32") = R.add(x, gv2)
        return (gv0, e, gv1, g)
