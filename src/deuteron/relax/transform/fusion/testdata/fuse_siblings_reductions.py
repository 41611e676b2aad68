# run: FuseOps(fuse_opt_level=2),FuseReductions,FuseSiblings
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseSiblings gv -> gv1: fused
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((T.int64(64), T.int64(128)), "float32"), x_red: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for ax0, k1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("x_red"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                with T.init():
                    x_red[v_ax0] = T.float32("-inf")
                x_red[v_ax0] = T.max(x_red[v_ax0], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def min(x: T.Buffer((T.int64(64), T.int64(128)), "float32"), x_red: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for ax0, k1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("x_red"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                with T.init():
                    x_red[v_ax0] = T.float32("inf")
                x_red[v_ax0] = T.min(x_red[v_ax0], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(low: T.Buffer((T.int64(64),), "float32"), compute: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0 in range(T.int64(64)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(64), i0)
                compute[v_i0] = T.exp(low[v_i0])

    @R.function
    def main(x: R.Tensor((64, 128), dtype="float32")) -> R.Tuple(R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="float32")):
        cls = Module
        with R.dataflow():
            low = R.call_tir(cls.min, (x,), out_ty=R.Tensor((64,), dtype="float32"))
            high = R.call_tir(cls.max, (x,), out_ty=R.Tensor((64,), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (low,), out_ty=R.Tensor((64,), dtype="float32"))
            gv1 = R.call_tir(cls.tir_exp, (high,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# as before: max, min, tir_exp
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_max_tir_exp(x: R.Tensor((64, 128), dtype="float32")) -> R.Tensor((64,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            high = R.call_tir(cls.max, (x,), out_ty=R.Tensor((64,), dtype="float32"))
            gv1 = R.call_tir(cls.tir_exp, (high,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function(private=True)
    def fused_min_tir_exp(x: R.Tensor((64, 128), dtype="float32")) -> R.Tensor((64,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            low = R.call_tir(cls.min, (x,), out_ty=R.Tensor((64,), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (low,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_min_tir_exp_max_tir_exp(x: R.Tensor((64, 128), dtype="float32")) -> R.Tuple(R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            low = R.call_tir(cls.min, (x,), out_ty=R.Tensor((64,), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (low,), out_ty=R.Tensor((64,), dtype="float32"))
            high = R.call_tir(cls.max, (x,), out_ty=R.Tensor((64,), dtype="float32"))
            gv1 = R.call_tir(cls.tir_exp, (high,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)

    @R.function
    def main(x: R.Tensor((64, 128), dtype="float32")) -> R.Tuple(R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv: R.Tuple(R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="float32")) = cls.fused_min_tir_exp_max_tir_exp(x)
            gv_1: R.Tensor((64,), dtype="float32") = gv[0]
            gv1: R.Tensor((64,), dtype="float32") = gv[1]
            R.output(gv, gv_1, gv1)
        return (gv_1, gv1)
