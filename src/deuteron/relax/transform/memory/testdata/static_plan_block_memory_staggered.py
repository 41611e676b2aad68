# run: RemovePurityChecking,CallTIRRewrite,StaticPlanBlockMemory
# Tensors of whole pages behind one another do not begin at the same place of a page.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(A: T.Buffer((T.int64(64), T.int64(256)), "float32"), B: T.Buffer((T.int64(64), T.int64(256)), "float32")):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((64, 256), "float32")) -> R.Tensor((64, 256), "float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((64, 256), "float32"))
            b = R.call_tir(cls.copy, (a,), out_ty=R.Tensor((64, 256), "float32"))
            c = R.call_tir(cls.copy, (b,), out_ty=R.Tensor((64, 256), "float32"))
            d = R.call_tir(cls.copy, (c,), out_ty=R.Tensor((64, 256), "float32"))
            R.output(d)
        return d
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(A: T.Buffer((T.int64(64), T.int64(256)), "float32"), B: T.Buffer((T.int64(64), T.int64(256)), "float32")):
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((64, 256), dtype="float32")) -> R.Tensor((64, 256), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage: R.Any = R.memory.alloc_storage(R.shape([131456]), 0, R.str("global"), R.dtype("uint8"))
        alloc: R.Tensor((64, 256), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([64, 256]), R.dtype("float32"), 0)
        cls.copy(x, alloc)
        a: R.Tensor((64, 256), dtype="float32") = alloc
        alloc1: R.Tensor((64, 256), dtype="float32") = R.memory.alloc_tensor(storage, 65728, R.shape([64, 256]), R.dtype("float32"), 0)
        cls.copy(a, alloc1)
        b: R.Tensor((64, 256), dtype="float32") = alloc1
        alloc2: R.Tensor((64, 256), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([64, 256]), R.dtype("float32"), 0)
        cls.copy(b, alloc2)
        c: R.Tensor((64, 256), dtype="float32") = alloc2
        alloc3: R.Tensor((64, 256), dtype="float32") = R.builtin.alloc_tensor(R.shape([64, 256]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((64, 256), dtype="float32"),))
        cls.copy(c, alloc3)
        d: R.Tensor((64, 256), dtype="float32") = alloc3
        return d
