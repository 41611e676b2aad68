# run: LowerAllocTensor
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32"), s: R.Tensor(("m", 3), "float16")):
        n = T.int64()
        m = T.int64()
        a = R.builtin.alloc_tensor(R.shape([n, 4]), R.dtype("float32"), R.prim_value(0))
        b = R.builtin.alloc_tensor(R.shape([n, m * 2 + 1]), R.dtype("float16"), R.prim_value(1), "texture")
        d = R.builtin.alloc_tensor(R.shape([3]), R.dtype("bool"), R.prim_value(0))
        e = R.builtin.alloc_tensor(R.shape([]), R.dtype("int64"), R.prim_value(0))
        _ = R.call_packed("f", a, b, d, e, ty_args=R.Tuple())
        return (a, b)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((n, 4), dtype="float32"), s: R.Tensor((m, 3), dtype="float16")) -> R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor((n, "m * 2 + 1"), dtype="float16")):
        storage: R.Any = R.memory.alloc_storage(R.shape([4 * n * 4]), 0, R.str("global"), R.dtype("uint8"))
        a: R.Tensor((n, 4), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([n, 4]), R.dtype("float32"), 0)
        storage_1: R.Any = R.memory.alloc_storage(R.shape([2 * n * (m * 2 + 1)]), 1, R.str("texture"), R.dtype("uint8"))
        b: R.Tensor((n, m * 2 + 1), dtype="float16") = R.memory.alloc_tensor(storage_1, 0, R.shape([n, m * 2 + 1]), R.dtype("float16"), 1)
        storage_2: R.Any = R.memory.alloc_storage(R.shape([3]), 0, R.str("global"), R.dtype("uint8"))
        d: R.Tensor((3,), dtype="bool") = R.memory.alloc_tensor(storage_2, 0, R.shape([3]), R.dtype("bool"), 0)
        storage_3: R.Any = R.memory.alloc_storage(R.shape([8]), 0, R.str("global"), R.dtype("uint8"))
        e: R.Tensor((), dtype="int64") = R.memory.alloc_tensor(storage_3, 0, R.shape([]), R.dtype("int64"), 0)
        R.call_packed("f", a, b, d, e, ty_args=(R.Tuple,))
        return (a, b)
