# run: ToNonDataflow
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.exp(a)
            c = R.add(x, y)
            gv = R.exp(c)
            gv2 = R.exp(b)
            gv3 = R.exp(gv)
            R.output(gv, gv2, gv3)
        with R.dataflow():
            u = R.exp(gv)
            v = R.exp(gv)
            gv4 = R.add(u, v)
            R.output(gv4)
        return (gv, gv2, gv3, gv4)
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
        a: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
        b: R.Tensor((2, 3), dtype="float32") = R.exp(a)
        c: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
        gv: R.Tensor((2, 3), dtype="float32") = R.exp(c)
        gv2: R.Tensor((2, 3), dtype="float32") = R.exp(b)
        gv3: R.Tensor((2, 3), dtype="float32") = R.exp(gv)
        u: R.Tensor((2, 3), dtype="float32") = R.exp(gv)
        v: R.Tensor((2, 3), dtype="float32") = R.exp(gv)
        gv4: R.Tensor((2, 3), dtype="float32") = R.add(u, v)
        return (gv, gv2, gv3, gv4)
