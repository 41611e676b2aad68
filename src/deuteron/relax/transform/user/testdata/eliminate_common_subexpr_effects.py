# run: EliminateCommonSubexpr
# Impure calls and allocations stay.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        a = R.call_packed("f", x, ty_args=R.Tensor((2, 3), "float32"))
        b = R.call_packed("f", x, ty_args=R.Tensor((2, 3), "float32"))
        c = R.call_pure_packed("f", x, ty_args=R.Tensor((2, 3), "float32"))
        d = R.call_pure_packed("f", x, ty_args=R.Tensor((2, 3), "float32"))
        e = R.call_dps_packed("f", x, out_ty=R.Tensor((2, 3), "float32"))
        g = R.call_dps_packed("f", x, out_ty=R.Tensor((2, 3), "float32"))
        h = R.builtin.alloc_tensor(R.shape([2, 3]), R.dtype("float32"), R.prim_value(0))
        i = R.builtin.alloc_tensor(R.shape([2, 3]), R.dtype("float32"), R.prim_value(0))
        return (a, b, c, d, e, g, h, i)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        a: R.Tensor((2, 3), dtype="float32") = R.call_packed("f", x, ty_args=(R.Tensor((2, 3), dtype="float32"),))
        b: R.Tensor((2, 3), dtype="float32") = R.call_packed("f", x, ty_args=(R.Tensor((2, 3), dtype="float32"),))
        c: R.Tensor((2, 3), dtype="float32") = R.call_pure_packed("f", x, ty_args=(R.Tensor((2, 3), dtype="float32"),))
        d: R.Tensor((2, 3), dtype="float32") = c
        e = R.call_dps_packed("f", (x,), out_ty=R.Tensor((2, 3), dtype="float32"))
        g: R.Tensor((2, 3), dtype="float32") = e
        h: R.Tensor((2, 3), dtype="float32") = R.builtin.alloc_tensor(R.shape([2, 3]), R.dtype("float32"), 0)
        i: R.Tensor((2, 3), dtype="float32") = R.builtin.alloc_tensor(R.shape([2, 3]), R.dtype("float32"), 0)
        return (a, b, c, c, e, e, h, i)
