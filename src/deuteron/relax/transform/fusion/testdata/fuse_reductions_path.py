# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions s -> gv: path-through-another
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(e: T.Buffer((T.int64(16), T.int64(32)), "float32"), w: T.Buffer((T.int64(32), T.int64(32)), "float32"), matmul: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1, k in T.grid(T.int64(16), T.int64(32), T.int64(32)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(e[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + e[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def max(u: T.Buffer((T.int64(16), T.int64(32)), "float32"), u_red: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(32)):
            with T.sblock("u_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(u[v_ax0, v_k1])
                T.writes(u_red[v_ax0, v_ax1])
                with T.init():
                    u_red[v_ax0, v_ax1] = T.float32("-inf")
                u_red[v_ax0, v_ax1] = T.max(u_red[v_ax0, v_ax1], u[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), s: T.Buffer((T.int64(16), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def subtract(s: T.Buffer((T.int64(16), T.int64(1)), "float32"), m: T.Buffer((T.int64(16), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(s[v_ax0, v_ax1], m[v_ax0, v_ax1])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = s[v_ax0, v_ax1] - m[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), x_red: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(32)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(y: T.Buffer((T.int64(16), T.int64(32)), "float32"), T_transpose: T.Buffer((T.int64(32), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(32), T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(y[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = y[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(t: T.Buffer((T.int64(32), T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(t[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = t[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32"), w: R.Tensor((32, 32), dtype="float32")) -> R.Tensor((16, 1), dtype="float32"):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((16, 1), dtype="float32"))
            e = R.call_tir(cls.multiply, (x, s), out_ty=R.Tensor((16, 32), dtype="float32"))
            y = R.call_tir(cls.matmul, (e, w), out_ty=R.Tensor((16, 32), dtype="float32"))
            t = R.call_tir(cls.transpose, (y,), out_ty=R.Tensor((32, 16), dtype="float32"))
            u = R.call_tir(cls.transpose1, (t,), out_ty=R.Tensor((16, 32), dtype="float32"))
            m = R.call_tir(cls.max, (u,), out_ty=R.Tensor((16, 1), dtype="float32"))
            gv = R.call_tir(cls.subtract, (s, m), out_ty=R.Tensor((16, 1), dtype="float32"))
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
    def matmul(e: T.Buffer((T.int64(16), T.int64(32)), "float32"), w: T.Buffer((T.int64(32), T.int64(32)), "float32"), matmul: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(16), T.int64(32), T.int64(32)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(e[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + e[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def max(u: T.Buffer((T.int64(16), T.int64(32)), "float32"), u_red: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(32)):
            with T.sblock("u_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(u[v_ax0, v_k1])
                T.writes(u_red[v_ax0, v_ax1])
                with T.init():
                    u_red[v_ax0, v_ax1] = T.float32("-inf")
                u_red[v_ax0, v_ax1] = T.max(u_red[v_ax0, v_ax1], u[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), s: T.Buffer((T.int64(16), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def subtract(s: T.Buffer((T.int64(16), T.int64(1)), "float32"), m: T.Buffer((T.int64(16), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(s[v_ax0, v_ax1], m[v_ax0, v_ax1])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = s[v_ax0, v_ax1] - m[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), x_red: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(32)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(y: T.Buffer((T.int64(16), T.int64(32)), "float32"), T_transpose: T.Buffer((T.int64(32), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(32), T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(y[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = y[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(t: T.Buffer((T.int64(32), T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(t[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = t[v_ax1, v_ax0]

    @R.function(private=True)
    def fused_max_subtract(u: R.Tensor((16, 32), dtype="float32"), s: R.Tensor((16, 1), dtype="float32")) -> R.Tensor((16, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (u,), out_ty=R.Tensor((16, 1), dtype="float32"))
            gv = R.call_tir(cls.subtract, (s, m), out_ty=R.Tensor((16, 1), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_sum_multiply(x: R.Tensor((16, 32), dtype="float32")) -> R.Tuple(R.Tensor((16, 32), dtype="float32"), R.Tensor((16, 1), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((16, 1), dtype="float32"))
            e = R.call_tir(cls.multiply, (x, s), out_ty=R.Tensor((16, 32), dtype="float32"))
            R.output(s, e)
        return (e, s)

    @R.function(private=True)
    def fused_transpose_transpose1(y: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.transpose, (y,), out_ty=R.Tensor((32, 16), dtype="float32"))
            u = R.call_tir(cls.transpose1, (t,), out_ty=R.Tensor((16, 32), dtype="float32"))
            R.output(u)
        return u

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32"), w: R.Tensor((32, 32), dtype="float32")) -> R.Tensor((16, 1), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((16, 32), dtype="float32"), R.Tensor((16, 1), dtype="float32")) = cls.fused_sum_multiply(x)
            s: R.Tensor((16, 1), dtype="float32") = lv[1]
            e: R.Tensor((16, 32), dtype="float32") = lv[0]
            y = R.call_tir(cls.matmul, (e, w), out_ty=R.Tensor((16, 32), dtype="float32"))
            u: R.Tensor((16, 32), dtype="float32") = cls.fused_transpose_transpose1(y)
            gv: R.Tensor((16, 1), dtype="float32") = cls.fused_max_subtract(u, s)
            R.output(gv)
        return gv
