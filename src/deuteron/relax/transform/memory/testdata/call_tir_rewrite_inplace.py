# run: RemovePurityChecking,CallTIRRewrite
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def increment(x: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("increment"):
                v_i = T.axis.spatial(T.int64(4), i)
                x[v_i] = x[v_i] + T.float32(1.0)

    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("double"):
                v_i = T.axis.spatial(T.int64(4), i)
                y[v_i] = x[v_i] + x[v_i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            parameter = R.call_tir_inplace(cls.increment, (x,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            fresh = R.call_tir(cls.double, (parameter,), out_ty=R.Tensor((4,), "float32"))
            consumed = R.call_tir_inplace(cls.increment, (fresh,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            kept = R.call_tir_inplace(cls.increment, (consumed,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            gv = R.call_tir(cls.double, (consumed,), out_ty=R.Tensor((4,), "float32"))
            R.output(gv, kept)
        return (gv, kept)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for i in range(T.int64(4)):
            with T.sblock("double"):
                v_i = T.axis.spatial(T.int64(4), i)
                T.reads(x[v_i])
                T.writes(y[v_i])
                y[v_i] = x[v_i] + x[v_i]

    @T.prim_func(private=True, s_tir=True)
    def increment(x: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for i in range(T.int64(4)):
            with T.sblock("increment"):
                v_i = T.axis.spatial(T.int64(4), i)
                T.reads(x[v_i])
                T.writes(x[v_i])
                x[v_i] = x[v_i] + T.float32(1.0)

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        alloc: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((4,), dtype="float32"),))
        R.call_packed("deuteron.vm.copy", x, alloc)
        cls.increment(alloc)
        parameter: R.Tensor((4,), dtype="float32") = alloc
        alloc1: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((4,), dtype="float32"),))
        cls.double(parameter, alloc1)
        fresh: R.Tensor((4,), dtype="float32") = alloc1
        cls.increment(fresh)
        consumed: R.Tensor((4,), dtype="float32") = fresh
        alloc2: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((4,), dtype="float32"),))
        R.call_packed("deuteron.vm.copy", consumed, alloc2)
        cls.increment(alloc2)
        kept: R.Tensor((4,), dtype="float32") = alloc2
        alloc3: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((4,), dtype="float32"),))
        cls.double(consumed, alloc3)
        gv: R.Tensor((4,), dtype="float32") = alloc3
        return (gv, kept)
