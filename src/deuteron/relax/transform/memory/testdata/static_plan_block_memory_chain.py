# run: RemovePurityChecking,CallTIRRewrite,StaticPlanBlockMemory
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def wide(A: T.Buffer((T.int64(16),), "float32"), B: T.Buffer((T.int64(64),), "float32")):
        T.evaluate(0)
    @T.prim_func(private=True, s_tir=True)
    def narrow(A: T.Buffer((T.int64(64),), "float32"), B: T.Buffer((T.int64(16),), "float32")):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((16,), "float32")) -> R.Tensor((16,), "float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.wide, (x,), out_ty=R.Tensor((64,), "float32"))
            b = R.call_tir(cls.narrow, (a,), out_ty=R.Tensor((16,), "float32"))
            c = R.call_tir(cls.wide, (b,), out_ty=R.Tensor((64,), "float32"))
            d = R.call_tir(cls.narrow, (c,), out_ty=R.Tensor((16,), "float32"))
            e = R.call_tir(cls.wide, (d,), out_ty=R.Tensor((64,), "float32"))
            f = R.call_tir(cls.narrow, (e,), out_ty=R.Tensor((16,), "float32"))
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
    def narrow(A: T.Buffer((T.int64(64),), "float32"), B: T.Buffer((T.int64(16),), "float32")):
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def wide(A: T.Buffer((T.int64(16),), "float32"), B: T.Buffer((T.int64(64),), "float32")):
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((16,), dtype="float32")) -> R.Tensor((16,), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage: R.Any = R.memory.alloc_storage(R.shape([320]), 0, R.str("global"), R.dtype("uint8"))
        alloc: R.Tensor((64,), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([64]), R.dtype("float32"), 0)
        cls.wide(x, alloc)
        a: R.Tensor((64,), dtype="float32") = alloc
        alloc1: R.Tensor((16,), dtype="float32") = R.memory.alloc_tensor(storage, 256, R.shape([16]), R.dtype("float32"), 0)
        cls.narrow(a, alloc1)
        b: R.Tensor((16,), dtype="float32") = alloc1
        alloc2: R.Tensor((64,), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([64]), R.dtype("float32"), 0)
        cls.wide(b, alloc2)
        c: R.Tensor((64,), dtype="float32") = alloc2
        alloc3: R.Tensor((16,), dtype="float32") = R.memory.alloc_tensor(storage, 256, R.shape([16]), R.dtype("float32"), 0)
        cls.narrow(c, alloc3)
        d: R.Tensor((16,), dtype="float32") = alloc3
        alloc4: R.Tensor((64,), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([64]), R.dtype("float32"), 0)
        cls.wide(d, alloc4)
        e: R.Tensor((64,), dtype="float32") = alloc4
        alloc5: R.Tensor((16,), dtype="float32") = R.builtin.alloc_tensor(R.shape([16]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((16,), dtype="float32"),))
        cls.narrow(e, alloc5)
        f: R.Tensor((16,), dtype="float32") = alloc5
        return f
