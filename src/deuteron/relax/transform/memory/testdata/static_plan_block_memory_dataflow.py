# run: StaticPlanBlockMemory
# A dataflow block beside what allocates stays one.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.evaluate(0)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0)
        cls.copy(x, a)
        with R.dataflow():
            b = R.exp(a)
            c = R.exp(b)
            R.output(c)
        return c
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        storage: R.Any = R.memory.alloc_storage(R.shape([64]), 0, R.str("global"), R.dtype("uint8"))
        a: R.Tensor((4,), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([4]), R.dtype("float32"), 0)
        cls.copy(x, a)
        with R.dataflow():
            b: R.Tensor((4,), dtype="float32") = R.exp(a)
            c: R.Tensor((4,), dtype="float32") = R.exp(b)
            R.output(c)
        return c
