# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions m -> gv: too-few-rows
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((T.int64(1), T.int64(50000)), "float32"), x_red: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(1), T.int64(1), T.int64(50000)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((T.int64(1), T.int64(50000)), "float32"), m: T.Buffer((T.int64(1), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(1), T.int64(50000)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(1), T.int64(50000)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], m[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - m[v_ax0, T.int64(0)]

    @R.function
    def main(x: R.Tensor((1, 50000), dtype="float32")) -> R.Tensor((1, 50000), dtype="float32"):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((1, 1), dtype="float32"))
            gv = R.call_tir(cls.subtract, (x, m), out_ty=R.Tensor((1, 50000), dtype="float32"))
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
    def max(x: T.Buffer((T.int64(1), T.int64(50000)), "float32"), x_red: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(1), T.int64(1), T.int64(50000)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((T.int64(1), T.int64(50000)), "float32"), m: T.Buffer((T.int64(1), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(1), T.int64(50000)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(1), T.int64(50000)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], m[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - m[v_ax0, T.int64(0)]

    @R.function
    def main(x: R.Tensor((1, 50000), dtype="float32")) -> R.Tensor((1, 50000), dtype="float32"):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((1, 1), dtype="float32"))
            gv = R.call_tir(cls.subtract, (x, m), out_ty=R.Tensor((1, 50000), dtype="float32"))
            R.output(gv)
        return gv
