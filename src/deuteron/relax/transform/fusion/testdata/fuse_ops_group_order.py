# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
# config: tvm_compat=true
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.exp(x)
            m = R.matmul(x, y)
            b = R.tanh(a)
            c = R.sum(b, axis=1, keepdims=True)
            gv = R.add(m, c)
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
    def add(m: T.Buffer((T.int64(4), T.int64(4)), "float32"), c: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(4)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(m[v_ax0, v_ax1], c[v_ax0, T.int64(0)])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = m[v_ax0, v_ax1] + c[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((T.int64(4), T.int64(4)), "float32"), y: T.Buffer((T.int64(4), T.int64(4)), "float32"), matmul: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(4), T.int64(4), T.int64(4)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], y[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x[v_i0, v_k] * y[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def sum(b: T.Buffer((T.int64(4), T.int64(4)), "float32"), b_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(T.int64(4), T.int64(1), T.int64(4)):
            with T.sblock("b_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(b[v_ax0, v_k1])
                T.writes(b_red[v_ax0, v_ax1])
                with T.init():
                    b_red[v_ax0, v_ax1] = T.float32(0.0)
                b_red[v_ax0, v_ax1] = b_red[v_ax0, v_ax1] + b[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(4)), "float32"), compute: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(a: T.Buffer((T.int64(4), T.int64(4)), "float32"), compute: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.tanh(a[v_i0, v_i1])

    @R.function(private=True)
    def fused_matmul_add(x: R.Tensor((4, 4), dtype="float32"), y: R.Tensor((4, 4), dtype="float32"), c: R.Tensor((4, 1), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.matmul, (x, y), out_ty=R.Tensor((4, 4), dtype="float32"))
            gv = R.call_tir(cls.add, (m, c), out_ty=R.Tensor((4, 4), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_tir_exp_tir_tanh_sum(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 4), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (a,), out_ty=R.Tensor((4, 4), dtype="float32"))
            c = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((4, 1), dtype="float32"))
            R.output(c)
        return c

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), y: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            c: R.Tensor((4, 1), dtype="float32") = cls.fused_tir_exp_tir_tanh_sum(x)
            gv: R.Tensor((4, 4), dtype="float32") = cls.fused_matmul_add(x, y, c)
            R.output(gv)
        return gv
