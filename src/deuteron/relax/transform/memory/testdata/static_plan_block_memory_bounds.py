# run: RemovePurityChecking,CallTIRRewrite,StaticPlanBlockMemory
# Storages grow with the sizes that come, whatever their bound: one for each symbol.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(4)), "float32")
        B = T.match_buffer(b, (n, T.int64(4)), "float32")
        T.evaluate(0)
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")) -> R.Tuple(R.Tensor(("n", 4), "float32"), R.Tensor(("m", 4), "float32")):
        R.func_attr({"tir_var_upper_bound": {"n": 16}})
        n = T.int64()
        m = T.int64()
        cls = Module
        a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((n, 4), "float32"))
        b = R.call_tir(cls.copy, (a,), out_ty=R.Tensor((n, 4), "float32"))
        c = R.call_tir(cls.copy, (b,), out_ty=R.Tensor((n, 4), "float32"))
        d = R.call_tir(cls.copy, (c,), out_ty=R.Tensor((n, 4), "float32"))
        e = R.call_tir(cls.copy, (y,), out_ty=R.Tensor((m, 4), "float32"))
        f = R.call_tir(cls.copy, (e,), out_ty=R.Tensor((m, 4), "float32"))
        g = R.call_tir(cls.copy, (f,), out_ty=R.Tensor((m, 4), "float32"))
        h = R.call_tir(cls.copy, (g,), out_ty=R.Tensor((m, 4), "float32"))
        return (d, h)
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
    def copy(A: T.Buffer((n, T.int64(4)), "float32"), B: T.Buffer((n, T.int64(4)), "float32")):
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((m, 4), dtype="float32")) -> R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor((m, 4), dtype="float32")):
        R.func_attr({"relax.force_pure": True, "tir_var_upper_bound": {"n": 16}})
        cls = Module
        storage: R.Any = R.memory.alloc_storage(R.shape([128 * n]), 0, R.str("global"), R.dtype("uint8"))
        storage1: R.Any = R.memory.alloc_storage(R.shape([128 * m]), 0, R.str("global"), R.dtype("uint8"))
        alloc: R.Tensor((n, 4), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([n, 4]), R.dtype("float32"), 0)
        cls.copy(x, alloc)
        a: R.Tensor((n, 4), dtype="float32") = alloc
        alloc1: R.Tensor((n, 4), dtype="float32") = R.memory.alloc_tensor(storage, 64 * n, R.shape([n, 4]), R.dtype("float32"), 0)
        cls.copy(a, alloc1)
        b: R.Tensor((n, 4), dtype="float32") = alloc1
        alloc2: R.Tensor((n, 4), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([n, 4]), R.dtype("float32"), 0)
        cls.copy(b, alloc2)
        c: R.Tensor((n, 4), dtype="float32") = alloc2
        alloc3: R.Tensor((n, 4), dtype="float32") = R.builtin.alloc_tensor(R.shape([n, 4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((n, 4), dtype="float32"),))
        cls.copy(c, alloc3)
        d: R.Tensor((n, 4), dtype="float32") = alloc3
        alloc4: R.Tensor((m, 4), dtype="float32") = R.memory.alloc_tensor(storage1, 0, R.shape([m, 4]), R.dtype("float32"), 0)
        cls.copy(y, alloc4)
        e: R.Tensor((m, 4), dtype="float32") = alloc4
        alloc5: R.Tensor((m, 4), dtype="float32") = R.memory.alloc_tensor(storage1, 64 * m, R.shape([m, 4]), R.dtype("float32"), 0)
        cls.copy(e, alloc5)
        f: R.Tensor((m, 4), dtype="float32") = alloc5
        alloc6: R.Tensor((m, 4), dtype="float32") = R.memory.alloc_tensor(storage1, 0, R.shape([m, 4]), R.dtype("float32"), 0)
        cls.copy(f, alloc6)
        g: R.Tensor((m, 4), dtype="float32") = alloc6
        alloc7: R.Tensor((m, 4), dtype="float32") = R.builtin.alloc_tensor(R.shape([m, 4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((m, 4), dtype="float32"),))
        cls.copy(g, alloc7)
        h: R.Tensor((m, 4), dtype="float32") = alloc7
        return (d, h)
