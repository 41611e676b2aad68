# run: RecomputeProducers
# expect: changes
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: RecomputeProducers v -> gv: not-profitable
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def erf(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), compute: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.erf(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def sum(v: T.Buffer((T.int64(64), T.int64(64)), "float32"), v_red: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for ax0, k0 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("v_red"):
                v_ax0, v_k0 = T.axis.remap("SR", [ax0, k0])
                T.reads(v[v_k0, v_ax0])
                T.writes(v_red[v_ax0])
                with T.init():
                    v_red[v_ax0] = T.float32(0.0)
                v_red[v_ax0] = v_red[v_ax0] + v[v_k0, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(u: T.Buffer((T.int64(64), T.int64(64)), "float32"), compute: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(u[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(u[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def transpose(v: T.Buffer((T.int64(64), T.int64(64)), "float32"), T_transpose: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(v[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = v[v_ax1, v_ax0]

    @R.function(private=True)
    def fused_erf_tir_exp(x: R.Tensor((64, 64), dtype="float32")) -> R.Tensor((64, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            u = R.call_tir(cls.erf, (x,), out_ty=R.Tensor((64, 64), dtype="float32"))
            v = R.call_tir(cls.tir_exp, (u,), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(v)
        return v

    @R.function
    def main(x: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64,), dtype="float32")):
        cls = Module
        with R.dataflow():
            v: R.Tensor((64, 64), dtype="float32") = cls.fused_erf_tir_exp(x)
            gv = R.call_tir(cls.transpose, (v,), out_ty=R.Tensor((64, 64), dtype="float32"))
            gv1 = R.call_tir(cls.sum, (v,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# as before: erf, fused_erf_tir_exp, main, sum, tir_exp, transpose
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
