# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions t -> m: not-row-by-row
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(t: T.Buffer((T.int64(96), T.int64(64)), "float32"), t_red: T.Buffer((T.int64(1), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k0 in T.grid(T.int64(1), T.int64(64), T.int64(96)):
            with T.sblock("t_red"):
                v_ax0, v_ax1, v_k0 = T.axis.remap("SSR", [ax0, ax1, k0])
                T.reads(t[v_k0, v_ax1])
                T.writes(t_red[v_ax0, v_ax1])
                with T.init():
                    t_red[v_ax0, v_ax1] = T.float32("-inf")
                t_red[v_ax0, v_ax1] = T.max(t_red[v_ax0, v_ax1], t[v_k0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(t: T.Buffer((T.int64(96), T.int64(64)), "float32"), m: T.Buffer((T.int64(1), T.int64(64)), "float32"), T_subtract: T.Buffer((T.int64(96), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(96), T.int64(64)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(t[v_ax0, v_ax1], m[T.int64(0), v_ax1])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = t[v_ax0, v_ax1] - m[T.int64(0), v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(64), T.int64(96)), "float32"), T_transpose: T.Buffer((T.int64(96), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(96), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = x[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((64, 96), dtype="float32")) -> R.Tensor((96, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((96, 64), dtype="float32"))
            m = R.call_tir(cls.max, (t,), out_ty=R.Tensor((1, 64), dtype="float32"))
            gv = R.call_tir(cls.subtract, (t, m), out_ty=R.Tensor((96, 64), dtype="float32"))
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
    def max(t: T.Buffer((T.int64(96), T.int64(64)), "float32"), t_red: T.Buffer((T.int64(1), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k0 in T.grid(T.int64(1), T.int64(64), T.int64(96)):
            with T.sblock("t_red"):
                v_ax0, v_ax1, v_k0 = T.axis.remap("SSR", [ax0, ax1, k0])
                T.reads(t[v_k0, v_ax1])
                T.writes(t_red[v_ax0, v_ax1])
                with T.init():
                    t_red[v_ax0, v_ax1] = T.float32("-inf")
                t_red[v_ax0, v_ax1] = T.max(t_red[v_ax0, v_ax1], t[v_k0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(t: T.Buffer((T.int64(96), T.int64(64)), "float32"), m: T.Buffer((T.int64(1), T.int64(64)), "float32"), T_subtract: T.Buffer((T.int64(96), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(96), T.int64(64)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(t[v_ax0, v_ax1], m[T.int64(0), v_ax1])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = t[v_ax0, v_ax1] - m[T.int64(0), v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(64), T.int64(96)), "float32"), T_transpose: T.Buffer((T.int64(96), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(96), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = x[v_ax1, v_ax0]

    @R.function(private=True)
    def fused_max_subtract(t: R.Tensor((96, 64), dtype="float32")) -> R.Tensor((96, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (t,), out_ty=R.Tensor((1, 64), dtype="float32"))
            gv = R.call_tir(cls.subtract, (t, m), out_ty=R.Tensor((96, 64), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((64, 96), dtype="float32")) -> R.Tensor((96, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((96, 64), dtype="float32"))
            gv: R.Tensor((96, 64), dtype="float32") = cls.fused_max_subtract(t)
            R.output(gv)
        return gv
