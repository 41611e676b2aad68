# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions s -> gv: fused
m = TypeVar("m")
n = TypeVar("n")
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(c: T.Buffer((m, T.int64(64)), "float32"), s: T.Buffer((m, T.int64(1)), "float32"), T_divide: T.Buffer((m, T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(m, T.int64(64)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(c[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = c[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((n, T.int64(64)), "float32"), x_red: T.Buffer((n, T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(n, T.int64(1), T.int64(64)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((n, T.int64(64)), "float32"), t: T.Buffer((n, T.int64(1)), "float32"), T_subtract: T.Buffer((n, T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(n, T.int64(64)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], t[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - t[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def sum(c: T.Buffer((m, T.int64(64)), "float32"), c_red: T.Buffer((m, T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(m, T.int64(1), T.int64(64)):
            with T.sblock("c_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(c[v_ax0, v_k1])
                T.writes(c_red[v_ax0, v_ax1])
                with T.init():
                    c_red[v_ax0, v_ax1] = T.float32(0.0)
                c_red[v_ax0, v_ax1] = c_red[v_ax0, v_ax1] + c[v_ax0, v_k1]

    @R.function
    def main(x: R.Tensor((n, 64), dtype="float32"), y: R.Tensor((k, 64), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor((n, 64), dtype="float32")):
        m_1 = T.int64()
        cls = Module
        with R.dataflow():
            c: R.Tensor((m_1, 64), dtype="float32") = R.match_cast(y, R.Tensor((m_1, 64), dtype="float32"))
            s = R.call_tir(cls.sum, (c,), out_ty=R.Tensor((m_1, 1), dtype="float32"))
            d = R.call_tir(cls.divide, (c, s), out_ty=R.Tensor((m_1, 64), dtype="float32"))
            t = R.call_tir(cls.max, (x,), out_ty=R.Tensor((n, 1), dtype="float32"))
            gv1 = R.call_tir(cls.subtract, (x, t), out_ty=R.Tensor((n, 64), dtype="float32"))
            gv = R.call_tir(cls.sum, (d,), out_ty=R.Tensor((m_1, 1), dtype="float32"))
            R.output(gv1, gv)
        return (gv, gv1)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
m_1 = TypeVar("m_1")
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(c: T.Buffer((m, T.int64(64)), "float32"), s: T.Buffer((m, T.int64(1)), "float32"), T_divide: T.Buffer((m, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(m, T.int64(64)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(c[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = c[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((n, T.int64(64)), "float32"), x_red: T.Buffer((n, T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(n, T.int64(1), T.int64(64)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((n, T.int64(64)), "float32"), t: T.Buffer((n, T.int64(1)), "float32"), T_subtract: T.Buffer((n, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(n, T.int64(64)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], t[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - t[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def sum(c: T.Buffer((m, T.int64(64)), "float32"), c_red: T.Buffer((m, T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(m, T.int64(1), T.int64(64)):
            with T.sblock("c_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(c[v_ax0, v_k1])
                T.writes(c_red[v_ax0, v_ax1])
                with T.init():
                    c_red[v_ax0, v_ax1] = T.float32(0.0)
                c_red[v_ax0, v_ax1] = c_red[v_ax0, v_ax1] + c[v_ax0, v_k1]

    @R.function(private=True)
    def fused_divide_sum(c: R.Tensor((m_1, 64), dtype="float32"), s: R.Tensor((m_1, 1), dtype="float32")) -> R.Tensor((m_1, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            d = R.call_tir(cls.divide, (c, s), out_ty=R.Tensor((m_1, 64), dtype="float32"))
            gv = R.call_tir(cls.sum, (d,), out_ty=R.Tensor((m_1, 1), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_max_subtract(x: R.Tensor((n, 64), dtype="float32")) -> R.Tensor((n, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.max, (x,), out_ty=R.Tensor((n, 1), dtype="float32"))
            gv1 = R.call_tir(cls.subtract, (x, t), out_ty=R.Tensor((n, 64), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function(private=True)
    def fused_sum_divide_sum(c: R.Tensor((m_1, 64), dtype="float32")) -> R.Tensor((m_1, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (c,), out_ty=R.Tensor((m_1, 1), dtype="float32"))
            d = R.call_tir(cls.divide, (c, s), out_ty=R.Tensor((m_1, 64), dtype="float32"))
            gv = R.call_tir(cls.sum, (d,), out_ty=R.Tensor((m_1, 1), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((n, 64), dtype="float32"), y: R.Tensor((k, 64), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor((n, 64), dtype="float32")):
        m_1_1 = T.int64()
        cls = Module
        with R.dataflow():
            c: R.Tensor((m_1_1, 64), dtype="float32") = R.match_cast(y, R.Tensor((m_1_1, 64), dtype="float32"))
            gv: R.Tensor((m_1_1, 1), dtype="float32") = cls.fused_sum_divide_sum(c)
            gv1: R.Tensor((n, 64), dtype="float32") = cls.fused_max_subtract(x)
            R.output(gv, gv1)
        return (gv, gv1)
