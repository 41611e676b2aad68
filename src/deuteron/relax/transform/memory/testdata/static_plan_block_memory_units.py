# run: RemovePurityChecking,CallTIRRewrite,StaticPlanBlockMemory
# Tensors of so many rows share a storage with those of as many, and with no others.
n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((n, T.int64(16)), "float32"), B: T.Buffer((m, T.int64(8)), "float32")):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((n, 16), "float32"), y: R.Tensor((m, 8), "float32")) -> R.Tensor((m, 8), "float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.kernel, (x,), out_ty=R.Tensor((n, 16), "float32"))
            b = R.call_tir(cls.kernel, (a,), out_ty=R.Tensor((m, 8), "float32"))
            c = R.call_tir(cls.kernel, (b,), out_ty=R.Tensor((n, 16), "float32"))
            d = R.call_tir(cls.kernel, (c,), out_ty=R.Tensor((m, 8), "float32"))
            e = R.call_tir(cls.kernel, (d,), out_ty=R.Tensor((m, 8), "float32"))
            R.output(e)
        return e
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
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((n, T.int64(16)), "float32"), B: T.Buffer((m, T.int64(8)), "float32")):
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((n, 16), dtype="float32"), y: R.Tensor((m, 8), dtype="float32")) -> R.Tensor((m, 8), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage: R.Any = R.memory.alloc_storage(R.shape([64 * n]), 0, R.str("global"), R.dtype("uint8"))
        storage1: R.Any = R.memory.alloc_storage(R.shape([64 * m]), 0, R.str("global"), R.dtype("uint8"))
        alloc: R.Tensor((n, 16), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([n, 16]), R.dtype("float32"), 0)
        cls.kernel(x, alloc)
        a: R.Tensor((n, 16), dtype="float32") = alloc
        alloc1: R.Tensor((m, 8), dtype="float32") = R.memory.alloc_tensor(storage1, 0, R.shape([m, 8]), R.dtype("float32"), 0)
        cls.kernel(a, alloc1)
        b: R.Tensor((m, 8), dtype="float32") = alloc1
        alloc2: R.Tensor((n, 16), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([n, 16]), R.dtype("float32"), 0)
        cls.kernel(b, alloc2)
        c: R.Tensor((n, 16), dtype="float32") = alloc2
        alloc3: R.Tensor((m, 8), dtype="float32") = R.memory.alloc_tensor(storage1, 0, R.shape([m, 8]), R.dtype("float32"), 0)
        cls.kernel(c, alloc3)
        d: R.Tensor((m, 8), dtype="float32") = alloc3
        alloc4: R.Tensor((m, 8), dtype="float32") = R.builtin.alloc_tensor(R.shape([m, 8]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((m, 8), dtype="float32"),))
        cls.kernel(d, alloc4)
        e: R.Tensor((m, 8), dtype="float32") = alloc4
        return e
