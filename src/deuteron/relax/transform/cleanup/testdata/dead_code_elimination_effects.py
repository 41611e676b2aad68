# run: DeadCodeElimination
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor(ndim=2, dtype="float32")) -> R.Tensor((2, 3), "float32"):
        n = T.int64()
        m = T.int64()
        checked = R.match_cast(y, R.Tensor((n, 2), "float32"))
        a = R.call_packed("effect", x, ty_args=(R.Tensor((2, 3), "float32"),))
        b = R.call_pure_packed("none", x, ty_args=(R.Tensor((2, 3), "float32"),))
        with R.dataflow():
            local = R.match_cast(y, R.Tensor((m, 2), "float32"))
            dead = R.exp(x)
            lv = R.tanh(x)
            gv = R.exp(lv)
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
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor(dtype="float32", ndim=2)) -> R.Tensor((2, 3), dtype="float32"):
        n = T.int64()
        m = T.int64()
        checked: R.Tensor((n, 2), dtype="float32") = R.match_cast(y, R.Tensor((n, 2), dtype="float32"))
        a: R.Tensor((2, 3), dtype="float32") = R.call_packed("effect", x, ty_args=(R.Tensor((2, 3), dtype="float32"),))
        with R.dataflow():
            local: R.Tensor((m, 2), dtype="float32") = R.match_cast(y, R.Tensor((m, 2), dtype="float32"))
            lv: R.Tensor((2, 3), dtype="float32") = R.tanh(x)
            gv: R.Tensor((2, 3), dtype="float32") = R.exp(lv)
            R.output(gv)
        return gv
