# run: FuseOps(fuse_opt_level=2),FuseReductions,FuseSiblings
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseSiblings gv -> gv1: fused
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((T.int64(64), T.int64(128)), "float32"), o: T.Buffer((T.int64(64), T.int64(128)), "float32"), T_add: T.Buffer((T.int64(64), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T_add[v_ax0, v_ax1] = a[v_ax0, v_ax1] + o[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply(b: T.Buffer((T.int64(64), T.int64(128)), "float32"), o: T.Buffer((T.int64(64), T.int64(128)), "float32"), T_multiply: T.Buffer((T.int64(64), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T_multiply[v_ax0, v_ax1] = b[v_ax0, v_ax1] * o[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(64), T.int64(128)), "float32"), compute: T.Buffer((T.int64(64), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(gv: T.Buffer((T.int64(64), T.int64(128)), "float32"), compute: T.Buffer((T.int64(64), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                compute[v_i0, v_i1] = T.tanh(gv[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((64, 128), dtype="float32"), o: R.Tensor((64, 128), dtype="float32")) -> R.Tuple(R.Tensor((64, 128), dtype="float32"), R.Tensor((64, 128), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 128), dtype="float32"))
            gv = R.call_tir(cls.add, (a, o), out_ty=R.Tensor((64, 128), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (gv,), out_ty=R.Tensor((64, 128), dtype="float32"))
            gv1 = R.call_tir(cls.multiply, (b, o), out_ty=R.Tensor((64, 128), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# as before: add, multiply, tir_exp, tir_tanh
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_tir_exp_add(x: R.Tensor((64, 128), dtype="float32"), o: R.Tensor((64, 128), dtype="float32")) -> R.Tensor((64, 128), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 128), dtype="float32"))
            gv = R.call_tir(cls.add, (a, o), out_ty=R.Tensor((64, 128), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_tir_exp_add_tir_tanh_multiply(x: R.Tensor((64, 128), dtype="float32"), o: R.Tensor((64, 128), dtype="float32")) -> R.Tuple(R.Tensor((64, 128), dtype="float32"), R.Tensor((64, 128), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 128), dtype="float32"))
            gv = R.call_tir(cls.add, (a, o), out_ty=R.Tensor((64, 128), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (gv,), out_ty=R.Tensor((64, 128), dtype="float32"))
            gv1 = R.call_tir(cls.multiply, (b, o), out_ty=R.Tensor((64, 128), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)

    @R.function(private=True)
    def fused_tir_tanh_multiply(gv: R.Tensor((64, 128), dtype="float32"), o: R.Tensor((64, 128), dtype="float32")) -> R.Tensor((64, 128), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.tir_tanh, (gv,), out_ty=R.Tensor((64, 128), dtype="float32"))
            gv1 = R.call_tir(cls.multiply, (b, o), out_ty=R.Tensor((64, 128), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function
    def main(x: R.Tensor((64, 128), dtype="float32"), o: R.Tensor((64, 128), dtype="float32")) -> R.Tuple(R.Tensor((64, 128), dtype="float32"), R.Tensor((64, 128), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv: R.Tuple(R.Tensor((64, 128), dtype="float32"), R.Tensor((64, 128), dtype="float32")) = cls.fused_tir_exp_add_tir_tanh_multiply(x, o)
            gv_1: R.Tensor((64, 128), dtype="float32") = gv[0]
            gv1: R.Tensor((64, 128), dtype="float32") = gv[1]
            R.output(gv, gv_1, gv1)
        return (gv_1, gv1)
