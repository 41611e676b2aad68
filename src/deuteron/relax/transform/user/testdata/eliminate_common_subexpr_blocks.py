# run: EliminateCommonSubexpr
# What a DataflowVar holds is known outside of its block by the first output of that value.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            lv0 = R.add(x, y)
            gv0 = R.add(x, y)
            gv1 = R.exp(lv0)
            gv2 = R.exp(lv0)
            gv3 = R.exp(gv0)
            R.output(gv0, gv1, gv2, gv3)
        z = R.exp(gv0)
        w = R.add(x, y)
        e = R.exp(gv1)
        f = R.exp(gv2)
        g = R.exp(gv3)
        with R.dataflow():
            h = R.exp(gv3)
            i = R.exp(gv2)
            j = R.add(h, i)
            R.output(j)
        return (z, w, e, f, g, j)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            lv0: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
            gv0: R.Tensor((2, 3), dtype="float32") = lv0
            gv1: R.Tensor((2, 3), dtype="float32") = R.exp(lv0)
            gv2: R.Tensor((2, 3), dtype="float32") = gv1
            gv3: R.Tensor((2, 3), dtype="float32") = gv1
            R.output(gv0, gv1, gv2, gv3)
        z: R.Tensor((2, 3), dtype="float32") = R.exp(gv0)
        w: R.Tensor((2, 3), dtype="float32") = gv0
        e: R.Tensor((2, 3), dtype="float32") = R.exp(gv1)
        f: R.Tensor((2, 3), dtype="float32") = R.exp(gv2)
        g: R.Tensor((2, 3), dtype="float32") = R.exp(gv3)
        with R.dataflow():
            h: R.Tensor((2, 3), dtype="float32") = g
            i: R.Tensor((2, 3), dtype="float32") = f
            j: R.Tensor((2, 3), dtype="float32") = R.add(g, f)
            R.output(j)
        return (z, gv0, e, f, g, j)
