# run: LegalizeOps,RemovePurityChecking,CallTIRRewrite,StaticPlanBlockMemory
# All bytes of a tensor seen as another type keep its memory in use, and let go of it.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def make(A: T.Buffer((T.int64(16),), "int32"), B: T.Buffer((T.int64(64),), "uint8")):
        T.evaluate(0)
    @T.prim_func(private=True, s_tir=True)
    def use(A: T.Buffer((T.int64(16),), "int32"), B: T.Buffer((T.int64(16),), "int32")):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((16,), "int32")) -> R.Tensor((16,), "int32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.make, (x,), out_ty=R.Tensor((64,), "uint8"))
            b = R.memory.view(a, R.shape([16]), R.dtype("int32"), R.tuple())
            c = R.call_tir(cls.use, (b,), out_ty=R.Tensor((16,), "int32"))
            d = R.call_tir(cls.use, (b,), out_ty=R.Tensor((16,), "int32"))
            e = R.call_tir(cls.use, (d,), out_ty=R.Tensor((16,), "int32"))
            f = R.call_tir(cls.use, (e,), out_ty=R.Tensor((16,), "int32"))
            R.output(f)
        return f
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def make(A: T.Buffer((T.int64(16),), "int32"), B: T.Buffer((T.int64(64),), "uint8")):
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def use(A: T.Buffer((T.int64(16),), "int32"), B: T.Buffer((T.int64(16),), "int32")):
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((16,), dtype="int32")) -> R.Tensor((16,), dtype="int32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage: R.Any = R.memory.alloc_storage(R.shape([128]), 0, R.str("global"), R.dtype("uint8"))
        alloc: R.Tensor((64,), dtype="uint8") = R.memory.alloc_tensor(storage, 0, R.shape([64]), R.dtype("uint8"), 0)
        cls.make(x, alloc)
        a: R.Tensor((64,), dtype="uint8") = alloc
        b: R.Tensor((16,), dtype="int32") = R.call_pure_packed("deuteron.vm.view", a, R.shape([16]), R.dtype("int32"), R.tuple(), ty_args=(R.Tensor((16,), dtype="int32"),))
        alloc1: R.Tensor((16,), dtype="int32") = R.memory.alloc_tensor(storage, 64, R.shape([16]), R.dtype("int32"), 0)
        cls.use(b, alloc1)
        c: R.Tensor((16,), dtype="int32") = alloc1
        alloc2: R.Tensor((16,), dtype="int32") = R.memory.alloc_tensor(storage, 64, R.shape([16]), R.dtype("int32"), 0)
        cls.use(b, alloc2)
        d: R.Tensor((16,), dtype="int32") = alloc2
        alloc3: R.Tensor((16,), dtype="int32") = R.memory.alloc_tensor(storage, 0, R.shape([16]), R.dtype("int32"), 0)
        cls.use(d, alloc3)
        e: R.Tensor((16,), dtype="int32") = alloc3
        alloc4: R.Tensor((16,), dtype="int32") = R.builtin.alloc_tensor(R.shape([16]), R.dtype("int32"), 0, R.str("global"), ty_args=(R.Tensor((16,), dtype="int32"),))
        cls.use(e, alloc4)
        f: R.Tensor((16,), dtype="int32") = alloc4
        return f
