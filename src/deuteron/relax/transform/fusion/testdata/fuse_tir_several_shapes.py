# run: FuseTIR
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_exp1(y: T.Buffer((T.int64(2), T.int64(8)), "float32"), compute: T.Buffer((T.int64(2), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(2), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(y[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(y[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.tanh(a[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh1(b: T.Buffer((T.int64(2), T.int64(8)), "float32"), compute: T.Buffer((T.int64(2), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(2), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(b[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.tanh(b[v_i0, v_i1])

    @R.function(private=True)
    def fused_tir_exp1_tir_tanh1(y: R.Tensor((2, 8), dtype="float32")) -> R.Tensor((2, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.tir_exp1, (y,), out_ty=R.Tensor((2, 8), dtype="float32"))
            gv1 = R.call_tir(cls.tir_tanh1, (b,), out_ty=R.Tensor((2, 8), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function(private=True)
    def fused_tir_exp_tir_tanh(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_tanh, (a,), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((2, 8), dtype="float32")) -> R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((2, 8), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((4, 8), dtype="float32") = cls.fused_tir_exp_tir_tanh(x)
            gv1: R.Tensor((2, 8), dtype="float32") = cls.fused_tir_exp1_tir_tanh1(y)
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_tir_exp1_tir_tanh1(y: T.Buffer((T.int64(2), T.int64(8)), "float32"), compute_intermediate_1: T.Buffer((T.int64(2), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        compute_intermediate = T.sblock_alloc_buffer((T.int64(2), T.int64(8)))
        for i0, i1 in T.grid(T.int64(2), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(y[v_i0, v_i1])
                T.writes(compute_intermediate[v_i0, v_i1])
                compute_intermediate[v_i0, v_i1] = T.exp(y[v_i0, v_i1])
        for i0, i1 in T.grid(T.int64(2), T.int64(8)):
            with T.sblock("compute1"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(compute_intermediate[v_i0, v_i1])
                T.writes(compute_intermediate_1[v_i0, v_i1])
                compute_intermediate_1[v_i0, v_i1] = T.tanh(compute_intermediate[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def fused_tir_exp_tir_tanh(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute_intermediate_1: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        compute_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(8)))
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute_intermediate[v_i0, v_i1])
                compute_intermediate[v_i0, v_i1] = T.exp(x[v_i0, v_i1])
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute1"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(compute_intermediate[v_i0, v_i1])
                T.writes(compute_intermediate_1[v_i0, v_i1])
                compute_intermediate_1[v_i0, v_i1] = T.tanh(compute_intermediate[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((2, 8), dtype="float32")) -> R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((2, 8), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.fused_tir_exp_tir_tanh, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv1 = R.call_tir(cls.fused_tir_exp1_tir_tanh1, (y,), out_ty=R.Tensor((2, 8), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
