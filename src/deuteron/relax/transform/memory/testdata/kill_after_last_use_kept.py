# run: KillAfterLastUse
# What a function may keep or return lives on, though it is not named again.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        a = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), R.prim_value(0))
        _ = R.call_packed("fill", x, a, ty_args=R.Tuple())
        b = R.call_packed("view", a, ty_args=R.Tensor((3, 4), "float32"))
        c = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), R.prim_value(0))
        _1 = R.call_packed("fill", b, c, ty_args=R.Tuple())
        return b
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3, 4), dtype="float32")) -> R.Tensor((3, 4), dtype="float32"):
        a: R.Tensor((3, 4), dtype="float32") = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), 0)
        R.call_packed("fill", x, a, ty_args=(R.Tuple,))
        b: R.Tensor((3, 4), dtype="float32") = R.call_packed("view", a, ty_args=(R.Tensor((3, 4), dtype="float32"),))
        c: R.Tensor((3, 4), dtype="float32") = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), 0)
        _1: R.Tuple = R.call_packed("fill", b, c, ty_args=(R.Tuple,))
        R.memory.kill_tensor(c)
        return b
