# run: FuseTIR
# config: tvm_compat=true
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((n, m), "float32"), b: T.Buffer((m,), "float32"), T_add: T.Buffer((n, m), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(n, m):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], b[v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, v_ax1] + b[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def sum(e: T.Buffer((n, m), "float32"), e_red: T.Buffer((n,), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for ax0, k1 in T.grid(n, m):
            with T.sblock("e_red"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(e[v_ax0, v_k1])
                T.writes(e_red[v_ax0])
                with T.init():
                    e_red[v_ax0] = T.float32(0.0)
                e_red[v_ax0] = e_red[v_ax0] + e[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(a: T.Buffer((n, m), "float32"), compute: T.Buffer((n, m), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(n, m):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(a[v_i0, v_i1])

    @R.function(private=True)
    def fused_add_tir_exp_sum(x: R.Tensor((n, m), dtype="float32"), b: R.Tensor((m,), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (x, b), out_ty=R.Tensor((n, m), dtype="float32"))
            e = R.call_tir(cls.tir_exp, (a,), out_ty=R.Tensor((n, m), dtype="float32"))
            gv = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((n,), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((n, m), dtype="float32"), b: R.Tensor((m,), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((n,), dtype="float32") = cls.fused_add_tir_exp_sum(x, b)
            R.output(gv)
        return gv
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
    def fused_add_tir_exp_sum(x: T.Buffer((n, m), "float32"), b: T.Buffer((m,), "float32"), e_red_intermediate: T.Buffer((n,), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_add_intermediate = T.sblock_alloc_buffer((n, m))
        compute_intermediate = T.sblock_alloc_buffer((n, m))
        for ax0, ax1 in T.grid(n, m):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], b[v_ax1])
                T.writes(T_add_intermediate[v_ax0, v_ax1])
                T_add_intermediate[v_ax0, v_ax1] = x[v_ax0, v_ax1] + b[v_ax1]
        for i0, i1 in T.grid(n, m):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_add_intermediate[v_i0, v_i1])
                T.writes(compute_intermediate[v_i0, v_i1])
                compute_intermediate[v_i0, v_i1] = T.exp(T_add_intermediate[v_i0, v_i1])
        for ax0, k1 in T.grid(n, m):
            with T.sblock("e_red"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(compute_intermediate[v_ax0, v_k1])
                T.writes(e_red_intermediate[v_ax0])
                with T.init():
                    e_red_intermediate[v_ax0] = T.float32(0.0)
                e_red_intermediate[v_ax0] = e_red_intermediate[v_ax0] + compute_intermediate[v_ax0, v_k1]

    @R.function
    def main(x: R.Tensor((n, m), dtype="float32"), b: R.Tensor((m,), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.fused_add_tir_exp_sum, (x, b), out_ty=R.Tensor((n,), dtype="float32"))
            R.output(gv)
        return gv
