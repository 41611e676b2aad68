# run: EliminateCommonSubexpr
# expect-remark: EliminateCommonSubexpr lv1 -> lv0: common-subexpression
# expect-remark: EliminateCommonSubexpr lv3 -> lv2: common-subexpression
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            lv0 = R.add(x, y)
            lv1 = R.add(x, y)
            lv2 = R.multiply(lv0, lv1)
            lv3 = R.multiply(lv0, lv0)
            gv = R.subtract(lv2, lv3)
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
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            lv0: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
            lv1: R.Tensor((2, 3), dtype="float32") = lv0
            lv2: R.Tensor((2, 3), dtype="float32") = R.multiply(lv0, lv0)
            lv3: R.Tensor((2, 3), dtype="float32") = lv2
            gv: R.Tensor((2, 3), dtype="float32") = R.subtract(lv2, lv2)
            R.output(gv)
        return gv
