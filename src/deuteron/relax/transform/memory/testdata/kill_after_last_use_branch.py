# run: KillAfterLastUse
# Used last by a branch, and by what follows it.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3, 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3, 4), "float32"):
        a = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), R.prim_value(0))
        b = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), R.prim_value(0))
        _ = R.call_packed("fill", x, a, b, ty_args=R.Tuple())
        if c:
            _1 = R.call_packed("use", a, ty_args=R.Tuple())
            y = x
        else:
            _2 = R.call_packed("use", x, ty_args=R.Tuple())
            y = x
        _3 = R.call_packed("use", b, ty_args=R.Tuple())
        return x
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3, 4), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((3, 4), dtype="float32"):
        a: R.Tensor((3, 4), dtype="float32") = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), 0)
        b: R.Tensor((3, 4), dtype="float32") = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), 0)
        R.call_packed("fill", x, a, b, ty_args=(R.Tuple,))
        if c:
            _1: R.Tuple = R.call_packed("use", a, ty_args=(R.Tuple,))
            y: R.Tensor((3, 4), dtype="float32") = x
        else:
            _2: R.Tuple = R.call_packed("use", x, ty_args=(R.Tuple,))
            y: R.Tensor((3, 4), dtype="float32") = x
        R.memory.kill_tensor(a)
        _3: R.Tuple = R.call_packed("use", b, ty_args=(R.Tuple,))
        R.memory.kill_tensor(b)
        return x
