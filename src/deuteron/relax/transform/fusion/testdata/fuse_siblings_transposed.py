# run: FuseOps(fuse_opt_level=2),FuseReductions,FuseSiblings
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseSiblings gv -> gv1: rows-out-of-step
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), compute: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(t: T.Buffer((T.int64(64), T.int64(64)), "float32"), compute: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                compute[v_i0, v_i1] = T.tanh(t[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), T_transpose: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T_transpose[v_ax0, v_ax1] = x[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 64), dtype="float32"))
            t = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((64, 64), dtype="float32"))
            gv1 = R.call_tir(cls.tir_tanh, (t,), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# as before: tir_exp, tir_tanh, transpose
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_transpose_tir_tanh(x: R.Tensor((64, 64), dtype="float32")) -> R.Tensor((64, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((64, 64), dtype="float32"))
            gv1 = R.call_tir(cls.tir_tanh, (t,), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function
    def main(x: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 64), dtype="float32"))
            gv1: R.Tensor((64, 64), dtype="float32") = cls.fused_transpose_tir_tanh(x)
            R.output(gv, gv1)
        return (gv, gv1)
