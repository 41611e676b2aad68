# run: LowerAllocTensor
# A dataflow block stays one: the storage is local to it, and its tensors are outputs as before.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            z = R.exp(x)
            kept: R.Tensor((2,), dtype="float32") = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((2,), dtype="float32"),))
            local: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((4,), dtype="float32"),))
            y = R.concat((z, local))
            R.output(y, kept)
        return (y, kept)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tuple(R.Tensor((6,), dtype="float32"), R.Tensor((2,), dtype="float32")):
        with R.dataflow():
            z: R.Tensor((2,), dtype="float32") = R.exp(x)
            storage: R.Any = R.memory.alloc_storage(R.shape([8]), 0, R.str("global"), R.dtype("uint8"))
            kept: R.Tensor((2,), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([2]), R.dtype("float32"), 0)
            storage_1: R.Any = R.memory.alloc_storage(R.shape([16]), 0, R.str("global"), R.dtype("uint8"))
            local: R.Tensor((4,), dtype="float32") = R.memory.alloc_tensor(storage_1, 0, R.shape([4]), R.dtype("float32"), 0)
            y: R.Tensor((6,), dtype="float32") = R.concat((z, local), axis=None)
            R.output(kept, y)
        return (y, kept)
