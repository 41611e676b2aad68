# run: LegalizeOps,RemovePurityChecking,ToNonDataflow,CallTIRRewrite,LowerAllocTensor
# A local function gets destinations of its own.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8,), "float32")):
        y = R.exp(x)
        @R.function
        def inner(p: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
            q = R.add(p, y)
            return q

        z = inner(x)
        return z
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(p: T.Buffer((T.int64(8),), "float32"), y: T.Buffer((T.int64(8),), "float32"), T_add: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(T.int64(8)):
            with T.sblock("T_add"):
                v_ax0 = T.axis.spatial(T.int64(8), ax0)
                T.reads(p[v_ax0], y[v_ax0])
                T.writes(T_add[v_ax0])
                T_add[v_ax0] = p[v_ax0] + y[v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(8),), "float32"), compute: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0 in range(T.int64(8)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(8), i0)
                T.reads(x[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.exp(x[v_i0])

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage: R.Any = R.memory.alloc_storage(R.shape([32]), 0, R.str("global"), R.dtype("uint8"))
        alloc: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([8]), R.dtype("float32"), 0)
        cls.tir_exp(x, alloc)
        y: R.Tensor((8,), dtype="float32") = alloc
        @R.function
        def inner(p: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
            R.func_attr({"relax.force_pure": True})
            storage_1: R.Any = R.memory.alloc_storage(R.shape([32]), 0, R.str("global"), R.dtype("uint8"))
            alloc1: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage_1, 0, R.shape([8]), R.dtype("float32"), 0)
            cls.add(p, y, alloc1)
            q: R.Tensor((8,), dtype="float32") = alloc1
            return q

        z: R.Tensor((8,), dtype="float32") = inner(x)
        return z
