# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions m -> h: rows-differ
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((T.int64(16), T.int64(32), T.int64(64)), "float32"), x_red: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k2 in T.grid(T.int64(16), T.int64(32), T.int64(64)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k2 = T.axis.remap("SSR", [ax0, ax1, k2])
                T.reads(x[v_ax0, v_ax1, v_k2])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_ax1, v_k2])

    @T.prim_func(private=True, s_tir=True)
    def max1(m: T.Buffer((T.int64(16), T.int64(32)), "float32"), m_red: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, k1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("m_red"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(m[v_ax0, v_k1])
                T.writes(m_red[v_ax0])
                with T.init():
                    m_red[v_ax0] = T.float32("-inf")
                m_red[v_ax0] = T.max(m_red[v_ax0], m[v_ax0, v_k1])

    @R.function
    def main(x: R.Tensor((16, 32, 64), dtype="float32")) -> R.Tensor((16,), dtype="float32"):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((16, 32), dtype="float32"))
            h = R.call_tir(cls.max1, (m,), out_ty=R.Tensor((16,), dtype="float32"))
            R.output(h)
        return h
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((T.int64(16), T.int64(32), T.int64(64)), "float32"), x_red: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k2 in T.grid(T.int64(16), T.int64(32), T.int64(64)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k2 = T.axis.remap("SSR", [ax0, ax1, k2])
                T.reads(x[v_ax0, v_ax1, v_k2])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32("-inf")
                x_red[v_ax0, v_ax1] = T.max(x_red[v_ax0, v_ax1], x[v_ax0, v_ax1, v_k2])

    @T.prim_func(private=True, s_tir=True)
    def max1(m: T.Buffer((T.int64(16), T.int64(32)), "float32"), m_red: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, k1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("m_red"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(m[v_ax0, v_k1])
                T.writes(m_red[v_ax0])
                with T.init():
                    m_red[v_ax0] = T.float32("-inf")
                m_red[v_ax0] = T.max(m_red[v_ax0], m[v_ax0, v_k1])

    @R.function
    def main(x: R.Tensor((16, 32, 64), dtype="float32")) -> R.Tensor((16,), dtype="float32"):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((16, 32), dtype="float32"))
            h = R.call_tir(cls.max1, (m,), out_ty=R.Tensor((16,), dtype="float32"))
            R.output(h)
        return h
