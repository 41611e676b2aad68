# run: KillAfterLastUse
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3, 4), "float32")):
        m = T.int64()
        a = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), R.prim_value(0))
        _ = R.call_packed("f", x, a, ty_args=R.Tuple())
        b = R.match_cast(a, R.Tensor((m, 4), "float32"))
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
    def main(x: R.Tensor((3, 4), dtype="float32")) -> R.Tensor((3, 4), dtype="float32"):
        m = T.int64()
        a: R.Tensor((3, 4), dtype="float32") = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), 0)
        R.call_packed("f", x, a, ty_args=(R.Tuple,))
        b: R.Tensor((m, 4), dtype="float32") = R.match_cast(a, R.Tensor((m, 4), dtype="float32"))
        R.memory.kill_tensor(a)
        return x
