# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# config: tvm_compat=true
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), s: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_divide: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = x[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def multiply(e: T.Buffer((T.int64(4), T.int64(8)), "float32"), s: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = e[v_ax0, v_ax1] * s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), x_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(8)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_k1]

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((4, 1), dtype="float32"))
            e = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.multiply, (e, s), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), s: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_divide: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = x[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def multiply(e: T.Buffer((T.int64(4), T.int64(8)), "float32"), s: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = e[v_ax0, v_ax1] * s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), x_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(8)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_k1]

    @R.function(private=True)
    def fused_divide_multiply(x: R.Tensor((4, 8), dtype="float32"), s: R.Tensor((4, 1), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.multiply, (e, s), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((4, 1), dtype="float32"))
            gv: R.Tensor((4, 8), dtype="float32") = cls.fused_divide_multiply(x, s)
            R.output(gv)
        return gv
