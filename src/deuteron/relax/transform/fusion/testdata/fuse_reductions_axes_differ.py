# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions c -> h: rows-differ
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32"), x_red: T.Buffer((T.int64(4), T.int64(1), T.int64(12), T.int64(12)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2, ax3, k1 in T.grid(T.int64(4), T.int64(1), T.int64(12), T.int64(12), T.int64(16)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_ax2, v_ax3, v_k1 = T.axis.remap("SSSSR", [ax0, ax1, ax2, ax3, k1])
                T.reads(x[v_ax0, v_k1, v_ax2, v_ax3])
                T.writes(x_red[v_ax0, v_ax1, v_ax2, v_ax3])
                with T.init():
                    x_red[v_ax0, v_ax1, v_ax2, v_ax3] = T.float32("-inf")
                x_red[v_ax0, v_ax1, v_ax2, v_ax3] = T.max(x_red[v_ax0, v_ax1, v_ax2, v_ax3], x[v_ax0, v_k1, v_ax2, v_ax3])

    @T.prim_func(private=True, s_tir=True)
    def max1(c: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32"), c_red: T.Buffer((T.int64(4), T.int64(16), T.int64(1), T.int64(12)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2, ax3, k2 in T.grid(T.int64(4), T.int64(16), T.int64(1), T.int64(12), T.int64(12)):
            with T.sblock("c_red"):
                v_ax0, v_ax1, v_ax2, v_ax3, v_k2 = T.axis.remap("SSSSR", [ax0, ax1, ax2, ax3, k2])
                T.reads(c[v_ax0, v_ax1, v_k2, v_ax3])
                T.writes(c_red[v_ax0, v_ax1, v_ax2, v_ax3])
                with T.init():
                    c_red[v_ax0, v_ax1, v_ax2, v_ax3] = T.float32("-inf")
                c_red[v_ax0, v_ax1, v_ax2, v_ax3] = T.max(c_red[v_ax0, v_ax1, v_ax2, v_ax3], c[v_ax0, v_ax1, v_k2, v_ax3])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32"), m: T.Buffer((T.int64(4), T.int64(1), T.int64(12), T.int64(12)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(4), T.int64(16), T.int64(12), T.int64(12)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(x[v_ax0, v_ax1, v_ax2, v_ax3], m[v_ax0, T.int64(0), v_ax2, v_ax3])
                T.writes(T_subtract[v_ax0, v_ax1, v_ax2, v_ax3])
                T_subtract[v_ax0, v_ax1, v_ax2, v_ax3] = x[v_ax0, v_ax1, v_ax2, v_ax3] - m[v_ax0, T.int64(0), v_ax2, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def subtract1(c: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32"), h: T.Buffer((T.int64(4), T.int64(16), T.int64(1), T.int64(12)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(4), T.int64(16), T.int64(12), T.int64(12)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(c[v_ax0, v_ax1, v_ax2, v_ax3], h[v_ax0, v_ax1, T.int64(0), v_ax3])
                T.writes(T_subtract[v_ax0, v_ax1, v_ax2, v_ax3])
                T_subtract[v_ax0, v_ax1, v_ax2, v_ax3] = c[v_ax0, v_ax1, v_ax2, v_ax3] - h[v_ax0, v_ax1, T.int64(0), v_ax3]

    @R.function
    def main(x: R.Tensor((4, 16, 12, 12), dtype="float32")) -> R.Tensor((4, 16, 12, 12), dtype="float32"):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((4, 1, 12, 12), dtype="float32"))
            c = R.call_tir(cls.subtract, (x, m), out_ty=R.Tensor((4, 16, 12, 12), dtype="float32"))
            h = R.call_tir(cls.max1, (c,), out_ty=R.Tensor((4, 16, 1, 12), dtype="float32"))
            gv = R.call_tir(cls.subtract1, (c, h), out_ty=R.Tensor((4, 16, 12, 12), dtype="float32"))
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
    def max(x: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32"), x_red: T.Buffer((T.int64(4), T.int64(1), T.int64(12), T.int64(12)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3, k1 in T.grid(T.int64(4), T.int64(1), T.int64(12), T.int64(12), T.int64(16)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_ax2, v_ax3, v_k1 = T.axis.remap("SSSSR", [ax0, ax1, ax2, ax3, k1])
                T.reads(x[v_ax0, v_k1, v_ax2, v_ax3])
                T.writes(x_red[v_ax0, v_ax1, v_ax2, v_ax3])
                with T.init():
                    x_red[v_ax0, v_ax1, v_ax2, v_ax3] = T.float32("-inf")
                x_red[v_ax0, v_ax1, v_ax2, v_ax3] = T.max(x_red[v_ax0, v_ax1, v_ax2, v_ax3], x[v_ax0, v_k1, v_ax2, v_ax3])

    @T.prim_func(private=True, s_tir=True)
    def max1(c: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32"), c_red: T.Buffer((T.int64(4), T.int64(16), T.int64(1), T.int64(12)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3, k2 in T.grid(T.int64(4), T.int64(16), T.int64(1), T.int64(12), T.int64(12)):
            with T.sblock("c_red"):
                v_ax0, v_ax1, v_ax2, v_ax3, v_k2 = T.axis.remap("SSSSR", [ax0, ax1, ax2, ax3, k2])
                T.reads(c[v_ax0, v_ax1, v_k2, v_ax3])
                T.writes(c_red[v_ax0, v_ax1, v_ax2, v_ax3])
                with T.init():
                    c_red[v_ax0, v_ax1, v_ax2, v_ax3] = T.float32("-inf")
                c_red[v_ax0, v_ax1, v_ax2, v_ax3] = T.max(c_red[v_ax0, v_ax1, v_ax2, v_ax3], c[v_ax0, v_ax1, v_k2, v_ax3])

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32"), m: T.Buffer((T.int64(4), T.int64(1), T.int64(12), T.int64(12)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(4), T.int64(16), T.int64(12), T.int64(12)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(x[v_ax0, v_ax1, v_ax2, v_ax3], m[v_ax0, T.int64(0), v_ax2, v_ax3])
                T.writes(T_subtract[v_ax0, v_ax1, v_ax2, v_ax3])
                T_subtract[v_ax0, v_ax1, v_ax2, v_ax3] = x[v_ax0, v_ax1, v_ax2, v_ax3] - m[v_ax0, T.int64(0), v_ax2, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def subtract1(c: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32"), h: T.Buffer((T.int64(4), T.int64(16), T.int64(1), T.int64(12)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(16), T.int64(12), T.int64(12)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(4), T.int64(16), T.int64(12), T.int64(12)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(c[v_ax0, v_ax1, v_ax2, v_ax3], h[v_ax0, v_ax1, T.int64(0), v_ax3])
                T.writes(T_subtract[v_ax0, v_ax1, v_ax2, v_ax3])
                T_subtract[v_ax0, v_ax1, v_ax2, v_ax3] = c[v_ax0, v_ax1, v_ax2, v_ax3] - h[v_ax0, v_ax1, T.int64(0), v_ax3]

    @R.function(private=True)
    def fused_max1_subtract1(c: R.Tensor((4, 16, 12, 12), dtype="float32")) -> R.Tensor((4, 16, 12, 12), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            h = R.call_tir(cls.max1, (c,), out_ty=R.Tensor((4, 16, 1, 12), dtype="float32"))
            gv = R.call_tir(cls.subtract1, (c, h), out_ty=R.Tensor((4, 16, 12, 12), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_max_subtract(x: R.Tensor((4, 16, 12, 12), dtype="float32")) -> R.Tensor((4, 16, 12, 12), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((4, 1, 12, 12), dtype="float32"))
            c = R.call_tir(cls.subtract, (x, m), out_ty=R.Tensor((4, 16, 12, 12), dtype="float32"))
            R.output(c)
        return c

    @R.function
    def main(x: R.Tensor((4, 16, 12, 12), dtype="float32")) -> R.Tensor((4, 16, 12, 12), dtype="float32"):
        cls = Module
        with R.dataflow():
            c: R.Tensor((4, 16, 12, 12), dtype="float32") = cls.fused_max_subtract(x)
            gv: R.Tensor((4, 16, 12, 12), dtype="float32") = cls.fused_max1_subtract1(c)
            R.output(gv)
        return gv
