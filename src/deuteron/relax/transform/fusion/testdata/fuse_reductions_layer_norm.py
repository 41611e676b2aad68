# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions,FuseTIR
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions d -> q: fused
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 48), "float32"), gamma: R.Tensor((48,), "float32"), beta: R.Tensor((48,), "float32")):
        with R.dataflow():
            m = R.mean(x, axis=[-1], keepdims=True)
            d = R.subtract(x, m)
            q = R.multiply(d, d)
            v = R.mean(q, axis=[-1], keepdims=True)
            e = R.add(v, R.const(1e-5, "float32"))
            s = R.sqrt(e)
            n = R.divide(d, s)
            g = R.multiply(n, gamma)
            gv = R.add(g, beta)
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
