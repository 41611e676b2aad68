# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions e -> c: rows-differ
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), x_red: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(32)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def max1(e: T.Buffer((T.int64(16), T.int64(32)), "float32"), e_red: T.Buffer((T.int64(1), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k0 in T.grid(T.int64(1), T.int64(32), T.int64(16)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_k0 = T.axis.remap("SSR", [ax0, ax1, k0])
                T.reads(e[v_k0, v_ax1])
                T.writes(e_red[v_ax0, v_ax1])
                with T.init():
                    e_red[v_ax0, v_ax1] = T.float32("-inf")
                e_red[v_ax0, v_ax1] = T.max(e_red[v_ax0, v_ax1], e[v_k0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), s: T.Buffer((T.int64(16), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def subtract1(e: T.Buffer((T.int64(16), T.int64(32)), "float32"), c: T.Buffer((T.int64(1), T.int64(32)), "float32"), T_subtract: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], c[T.int64(0), v_ax1])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = e[v_ax0, v_ax1] - c[T.int64(0), v_ax1]

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.max, (x,), out_ty=R.Tensor((16, 1), dtype="float32"))
            e = R.call_tir(cls.subtract, (x, s), out_ty=R.Tensor((16, 32), dtype="float32"))
            c = R.call_tir(cls.max1, (e,), out_ty=R.Tensor((1, 32), dtype="float32"))
            gv = R.call_tir(cls.subtract1, (e, c), out_ty=R.Tensor((16, 32), dtype="float32"))
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
    def max(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), x_red: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(32)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def max1(e: T.Buffer((T.int64(16), T.int64(32)), "float32"), e_red: T.Buffer((T.int64(1), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k0 in T.grid(T.int64(1), T.int64(32), T.int64(16)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_k0 = T.axis.remap("SSR", [ax0, ax1, k0])
                T.reads(e[v_k0, v_ax1])
                T.writes(e_red[v_ax0, v_ax1])
                with T.init():
                    e_red[v_ax0, v_ax1] = T.float32("-inf")
                e_red[v_ax0, v_ax1] = T.max(e_red[v_ax0, v_ax1], e[v_k0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), s: T.Buffer((T.int64(16), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def subtract1(e: T.Buffer((T.int64(16), T.int64(32)), "float32"), c: T.Buffer((T.int64(1), T.int64(32)), "float32"), T_subtract: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], c[T.int64(0), v_ax1])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = e[v_ax0, v_ax1] - c[T.int64(0), v_ax1]

    @R.function(private=True)
    def fused_max1_subtract1(e: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.max1, (e,), out_ty=R.Tensor((1, 32), dtype="float32"))
            gv = R.call_tir(cls.subtract1, (e, c), out_ty=R.Tensor((16, 32), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_max_subtract(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.max, (x,), out_ty=R.Tensor((16, 1), dtype="float32"))
            e = R.call_tir(cls.subtract, (x, s), out_ty=R.Tensor((16, 32), dtype="float32"))
            R.output(e)
        return e

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        cls = Module
        with R.dataflow():
            e: R.Tensor((16, 32), dtype="float32") = cls.fused_max_subtract(x)
            gv: R.Tensor((16, 32), dtype="float32") = cls.fused_max1_subtract1(e)
            R.output(gv)
        return gv
