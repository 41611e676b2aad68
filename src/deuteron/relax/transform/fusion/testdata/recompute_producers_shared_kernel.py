# run: RecomputeProducers
# expect: changes
# target: llvm -mcpu=x86-64-v4 -threads=2
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), y: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), T_add: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], y[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, v_ax1] + y[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply(a: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), b: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), T_multiply: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], b[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = a[v_ax0, v_ax1] * b[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), compute: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(v[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(v[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), compute: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(v[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.tanh(v[v_i0, v_i1])

    @R.function(private=True)
    def fused_add_tir_exp_tir_tanh_multiply(x: R.Tensor((4096, 2048), dtype="float32"), y: R.Tensor((4096, 2048), dtype="float32")) -> R.Tensor((4096, 2048), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.add, (x, y), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            a = R.call_tir(cls.tir_exp, (v,), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (v,), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            gv = R.call_tir(cls.multiply, (a, b), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4096, 2048), dtype="float32"), y: R.Tensor((4096, 2048), dtype="float32")) -> R.Tensor((4096, 2048), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((4096, 2048), dtype="float32") = cls.fused_add_tir_exp_tir_tanh_multiply(x, y)
            R.output(gv)
        return gv
# ----- expected
# as before: add, fused_add_tir_exp_tir_tanh_multiply, main, multiply, tir_exp, tir_tanh
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
