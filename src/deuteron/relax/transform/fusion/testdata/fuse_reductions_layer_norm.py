# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions,FuseTIR
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions d -> q: fused
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(v: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(v[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = v[v_ax0, v_ax1] + T.float32(9.999999747378752e-06)

    @T.prim_func(private=True, s_tir=True)
    def add1(g: T.Buffer((T.int64(4), T.int64(48)), "float32"), beta: T.Buffer((T.int64(48),), "float32"), T_add: T.Buffer((T.int64(4), T.int64(48)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(g[v_ax0, v_ax1], beta[v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = g[v_ax0, v_ax1] + beta[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def divide(d: T.Buffer((T.int64(4), T.int64(48)), "float32"), s: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_divide: T.Buffer((T.int64(4), T.int64(48)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(d[v_ax0, v_ax1], s[v_ax0, T.int64(0)])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = d[v_ax0, v_ax1] / s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def mean(x: T.Buffer((T.int64(4), T.int64(48)), "float32"), T_divide: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        x_red = T.sblock_alloc_buffer((T.int64(4), T.int64(1)))
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(48)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_k1]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x_red[v_ax0, v_ax1])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] / T.float32(48.0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(d: T.Buffer((T.int64(4), T.int64(48)), "float32"), d_1: T.Buffer((T.int64(4), T.int64(48)), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(48)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(d[v_ax0, v_ax1], d_1[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = d[v_ax0, v_ax1] * d_1[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply1(n: T.Buffer((T.int64(4), T.int64(48)), "float32"), gamma: T.Buffer((T.int64(48),), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(48)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(n[v_ax0, v_ax1], gamma[v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = n[v_ax0, v_ax1] * gamma[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def subtract(x: T.Buffer((T.int64(4), T.int64(48)), "float32"), m: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(48)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], m[v_ax0, T.int64(0)])
                T.writes(T_subtract[v_ax0, v_ax1])
                T_subtract[v_ax0, v_ax1] = x[v_ax0, v_ax1] - m[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def tir_sqrt(e: T.Buffer((T.int64(4), T.int64(1)), "float32"), compute: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(e[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.sqrt(e[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((4, 48), dtype="float32"), gamma: R.Tensor((48,), dtype="float32"), beta: R.Tensor((48,), dtype="float32")) -> R.Tensor((4, 48), dtype="float32"):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.mean, (x,), out_ty=R.Tensor((4, 1), dtype="float32"))
            d = R.call_tir(cls.subtract, (x, m), out_ty=R.Tensor((4, 48), dtype="float32"))
            q = R.call_tir(cls.multiply, (d, d), out_ty=R.Tensor((4, 48), dtype="float32"))
            v = R.call_tir(cls.mean, (q,), out_ty=R.Tensor((4, 1), dtype="float32"))
            e = R.call_tir(cls.add, (v,), out_ty=R.Tensor((4, 1), dtype="float32"))
            s = R.call_tir(cls.tir_sqrt, (e,), out_ty=R.Tensor((4, 1), dtype="float32"))
            n = R.call_tir(cls.divide, (d, s), out_ty=R.Tensor((4, 48), dtype="float32"))
            g = R.call_tir(cls.multiply1, (n, gamma), out_ty=R.Tensor((4, 48), dtype="float32"))
            gv = R.call_tir(cls.add1, (g, beta), out_ty=R.Tensor((4, 48), dtype="float32"))
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
    def fused_mean_subtract_multiply_mean_add_tir_sqrt_divide_multiply1_add1(x: T.Buffer((T.int64(4), T.int64(48)), "float32"), gamma: T.Buffer((T.int64(48),), "float32"), beta: T.Buffer((T.int64(48),), "float32"), T_add_intermediate_1: T.Buffer((T.int64(4), T.int64(48)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        x_red = T.sblock_alloc_buffer((T.int64(4), T.int64(1)))
        T_divide_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(1)))
        T_subtract_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(48)))
        T_multiply_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(48)))
        x_red_1 = T.sblock_alloc_buffer((T.int64(4), T.int64(1)))
        T_divide_intermediate_1 = T.sblock_alloc_buffer((T.int64(4), T.int64(1)))
        T_add_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(1)))
        compute_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(1)))
        T_divide_intermediate_2 = T.sblock_alloc_buffer((T.int64(4), T.int64(48)))
        T_multiply_intermediate_1 = T.sblock_alloc_buffer((T.int64(4), T.int64(48)))
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(48)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(x[v_ax0, v_k1])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_k1]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x_red[v_ax0, v_ax1])
                T.writes(T_divide_intermediate[v_ax0, v_ax1])
                T_divide_intermediate[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] / T.float32(48.0)
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], T_divide_intermediate[v_ax0, T.int64(0)])
                T.writes(T_subtract_intermediate[v_ax0, v_ax1])
                T_subtract_intermediate[v_ax0, v_ax1] = x[v_ax0, v_ax1] - T_divide_intermediate[v_ax0, T.int64(0)]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_subtract_intermediate[v_ax0, v_ax1])
                T.writes(T_multiply_intermediate[v_ax0, v_ax1])
                T_multiply_intermediate[v_ax0, v_ax1] = T_subtract_intermediate[v_ax0, v_ax1] * T_subtract_intermediate[v_ax0, v_ax1]
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(48)):
            with T.sblock("x_red1"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(T_multiply_intermediate[v_ax0, v_k1])
                T.writes(x_red_1[v_ax0, v_ax1])
                with T.init():
                    x_red_1[v_ax0, v_ax1] = T.float32(0.0)
                x_red_1[v_ax0, v_ax1] = x_red_1[v_ax0, v_ax1] + T_multiply_intermediate[v_ax0, v_k1]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1)):
            with T.sblock("T_divide1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x_red_1[v_ax0, v_ax1])
                T.writes(T_divide_intermediate_1[v_ax0, v_ax1])
                T_divide_intermediate_1[v_ax0, v_ax1] = x_red_1[v_ax0, v_ax1] / T.float32(48.0)
        for ax0, ax1 in T.grid(T.int64(4), T.int64(1)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_divide_intermediate_1[v_ax0, v_ax1])
                T.writes(T_add_intermediate[v_ax0, v_ax1])
                T_add_intermediate[v_ax0, v_ax1] = T_divide_intermediate_1[v_ax0, v_ax1] + T.float32(9.999999747378752e-06)
        for i0, i1 in T.grid(T.int64(4), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_add_intermediate[v_i0, v_i1])
                T.writes(compute_intermediate[v_i0, v_i1])
                compute_intermediate[v_i0, v_i1] = T.sqrt(T_add_intermediate[v_i0, v_i1])
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_divide2"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_subtract_intermediate[v_ax0, v_ax1], compute_intermediate[v_ax0, T.int64(0)])
                T.writes(T_divide_intermediate_2[v_ax0, v_ax1])
                T_divide_intermediate_2[v_ax0, v_ax1] = T_subtract_intermediate[v_ax0, v_ax1] / compute_intermediate[v_ax0, T.int64(0)]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_multiply1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_divide_intermediate_2[v_ax0, v_ax1], gamma[v_ax1])
                T.writes(T_multiply_intermediate_1[v_ax0, v_ax1])
                T_multiply_intermediate_1[v_ax0, v_ax1] = T_divide_intermediate_2[v_ax0, v_ax1] * gamma[v_ax1]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(48)):
            with T.sblock("T_add1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_multiply_intermediate_1[v_ax0, v_ax1], beta[v_ax1])
                T.writes(T_add_intermediate_1[v_ax0, v_ax1])
                T_add_intermediate_1[v_ax0, v_ax1] = T_multiply_intermediate_1[v_ax0, v_ax1] + beta[v_ax1]

    @R.function
    def main(x: R.Tensor((4, 48), dtype="float32"), gamma: R.Tensor((48,), dtype="float32"), beta: R.Tensor((48,), dtype="float32")) -> R.Tensor((4, 48), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.fused_mean_subtract_multiply_mean_add_tir_sqrt_divide_multiply1_add1, (x, gamma, beta), out_ty=R.Tensor((4, 48), dtype="float32"))
            R.output(gv)
        return gv
