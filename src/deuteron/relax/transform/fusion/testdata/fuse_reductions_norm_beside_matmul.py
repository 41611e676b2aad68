# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions y -> gv: not-row-by-row
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(y: T.Buffer((T.int64(16), T.int64(64)), "float32"), w: T.Buffer((T.int64(64), T.int64(32)), "float32"), matmul: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1, k in T.grid(T.int64(16), T.int64(32), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(y[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + y[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def mean(lv: T.Buffer((T.int64(16), T.int64(64)), "float32"), T_divide: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        lv_red = T.sblock_alloc_buffer((T.int64(16), T.int64(1)))
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(64)):
            with T.sblock("lv_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(lv[v_ax0, v_k1])
                T.writes(lv_red[v_ax0, v_ax1])
                with T.init():
                    lv_red[v_ax0, v_ax1] = T.float32(0.0)
                lv_red[v_ax0, v_ax1] = lv_red[v_ax0, v_ax1] + lv[v_ax0, v_k1]
        for ax0, ax1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv_red[v_ax0, v_ax1])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = lv_red[v_ax0, v_ax1] / T.float32(64.0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(16), T.int64(64)), "float32"), x_1: T.Buffer((T.int64(16), T.int64(64)), "float32"), T_multiply: T.Buffer((T.int64(16), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], x_1[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * x_1[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply1(x: T.Buffer((T.int64(16), T.int64(64)), "float32"), lv1: T.Buffer((T.int64(16), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(16), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], lv1[v_ax0, T.int64(0)])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * lv1[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def multiply2(lv2: T.Buffer((T.int64(16), T.int64(64)), "float32"), g: T.Buffer((T.int64(64),), "float32"), T_multiply: T.Buffer((T.int64(16), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv2[v_ax0, v_ax1], g[v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = lv2[v_ax0, v_ax1] * g[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def relu(q: T.Buffer((T.int64(16), T.int64(32)), "float32"), compute: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(q[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(q[v_i0, v_i1], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def tir_rsqrt(s: T.Buffer((T.int64(16), T.int64(1)), "float32"), compute: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(s[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.rsqrt(s[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((16, 64), dtype="float32"), g: R.Tensor((64,), dtype="float32"), w: R.Tensor((64, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.multiply, (x, x), out_ty=R.Tensor((16, 64), dtype="float32"))
            s = R.call_tir(cls.mean, (lv,), out_ty=R.Tensor((16, 1), dtype="float32"))
            lv1 = R.call_tir(cls.tir_rsqrt, (s,), out_ty=R.Tensor((16, 1), dtype="float32"))
            lv2 = R.call_tir(cls.multiply1, (x, lv1), out_ty=R.Tensor((16, 64), dtype="float32"))
            y = R.call_tir(cls.multiply2, (lv2, g), out_ty=R.Tensor((16, 64), dtype="float32"))
            q = R.call_tir(cls.matmul, (y, w), out_ty=R.Tensor((16, 32), dtype="float32"))
            gv = R.call_tir(cls.relu, (q,), out_ty=R.Tensor((16, 32), dtype="float32"))
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
    def matmul(y: T.Buffer((T.int64(16), T.int64(64)), "float32"), w: T.Buffer((T.int64(64), T.int64(32)), "float32"), matmul: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(16), T.int64(32), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(y[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + y[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def mean(lv: T.Buffer((T.int64(16), T.int64(64)), "float32"), T_divide: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        lv_red = T.sblock_alloc_buffer((T.int64(16), T.int64(1)))
        for ax0, ax1, k1 in T.grid(T.int64(16), T.int64(1), T.int64(64)):
            with T.sblock("lv_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(lv[v_ax0, v_k1])
                T.writes(lv_red[v_ax0, v_ax1])
                with T.init():
                    lv_red[v_ax0, v_ax1] = T.float32(0.0)
                lv_red[v_ax0, v_ax1] = lv_red[v_ax0, v_ax1] + lv[v_ax0, v_k1]
        for ax0, ax1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("T_divide"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv_red[v_ax0, v_ax1])
                T.writes(T_divide[v_ax0, v_ax1])
                T_divide[v_ax0, v_ax1] = lv_red[v_ax0, v_ax1] / T.float32(64.0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(16), T.int64(64)), "float32"), x_1: T.Buffer((T.int64(16), T.int64(64)), "float32"), T_multiply: T.Buffer((T.int64(16), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], x_1[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * x_1[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply1(x: T.Buffer((T.int64(16), T.int64(64)), "float32"), lv1: T.Buffer((T.int64(16), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(16), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], lv1[v_ax0, T.int64(0)])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * lv1[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def multiply2(lv2: T.Buffer((T.int64(16), T.int64(64)), "float32"), g: T.Buffer((T.int64(64),), "float32"), T_multiply: T.Buffer((T.int64(16), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv2[v_ax0, v_ax1], g[v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = lv2[v_ax0, v_ax1] * g[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def relu(q: T.Buffer((T.int64(16), T.int64(32)), "float32"), compute: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(q[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(q[v_i0, v_i1], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def tir_rsqrt(s: T.Buffer((T.int64(16), T.int64(1)), "float32"), compute: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(16), T.int64(1)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(s[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.rsqrt(s[v_i0, v_i1])

    @R.function(private=True)
    def fused_matmul_relu(y: R.Tensor((16, 64), dtype="float32"), w: R.Tensor((64, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            q = R.call_tir(cls.matmul, (y, w), out_ty=R.Tensor((16, 32), dtype="float32"))
            gv = R.call_tir(cls.relu, (q,), out_ty=R.Tensor((16, 32), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_mean_tir_rsqrt_multiply1_multiply2(lv: R.Tensor((16, 64), dtype="float32"), x: R.Tensor((16, 64), dtype="float32"), g: R.Tensor((64,), dtype="float32")) -> R.Tensor((16, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.mean, (lv,), out_ty=R.Tensor((16, 1), dtype="float32"))
            lv1 = R.call_tir(cls.tir_rsqrt, (s,), out_ty=R.Tensor((16, 1), dtype="float32"))
            lv2 = R.call_tir(cls.multiply1, (x, lv1), out_ty=R.Tensor((16, 64), dtype="float32"))
            y = R.call_tir(cls.multiply2, (lv2, g), out_ty=R.Tensor((16, 64), dtype="float32"))
            R.output(y)
        return y

    @R.function(private=True)
    def fused_multiply_mean_tir_rsqrt_multiply1_multiply2(x: R.Tensor((16, 64), dtype="float32"), g: R.Tensor((64,), dtype="float32")) -> R.Tensor((16, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.multiply, (x, x), out_ty=R.Tensor((16, 64), dtype="float32"))
            s = R.call_tir(cls.mean, (lv,), out_ty=R.Tensor((16, 1), dtype="float32"))
            lv1 = R.call_tir(cls.tir_rsqrt, (s,), out_ty=R.Tensor((16, 1), dtype="float32"))
            lv2 = R.call_tir(cls.multiply1, (x, lv1), out_ty=R.Tensor((16, 64), dtype="float32"))
            y = R.call_tir(cls.multiply2, (lv2, g), out_ty=R.Tensor((16, 64), dtype="float32"))
            R.output(y)
        return y

    @R.function
    def main(x: R.Tensor((16, 64), dtype="float32"), g: R.Tensor((64,), dtype="float32"), w: R.Tensor((64, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        cls = Module
        with R.dataflow():
            y: R.Tensor((16, 64), dtype="float32") = cls.fused_multiply_mean_tir_rsqrt_multiply1_multiply2(x, g)
            gv: R.Tensor((16, 32), dtype="float32") = cls.fused_matmul_relu(y, w)
            R.output(gv)
        return gv
