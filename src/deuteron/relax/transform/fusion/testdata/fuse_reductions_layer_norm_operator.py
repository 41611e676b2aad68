# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions a -> n: fused
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(16), T.int64(48)), "float32"), r: T.Buffer((T.int64(16), T.int64(48)), "float32"), T_add: T.Buffer((T.int64(16), T.int64(48)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(16), T.int64(48)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], r[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, v_ax1] + r[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def layer_norm(a: T.Buffer((T.int64(16), T.int64(48)), "float32"), g: T.Buffer((T.int64(48),), "float32"), b: T.Buffer((T.int64(48),), "float32"), T_layer_norm: T.Buffer((T.int64(16), T.int64(48)), "float32")):
        T.func_attr({"tirx.noalias": True})
        a_sum = T.sblock_alloc_buffer((T.int64(16),))
        a_mean = T.sblock_alloc_buffer((T.int64(16),))
        a_var_sum = T.sblock_alloc_buffer((T.int64(16),))
        for ax0, k1 in T.grid(T.int64(16), T.int64(48)):
            with T.sblock("a_sum"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(a[v_ax0, v_k1])
                T.writes(a_sum[v_ax0])
                with T.init():
                    a_sum[v_ax0] = T.float32(0.0)
                a_sum[v_ax0] = a_sum[v_ax0] + a[v_ax0, v_k1]
        for ax0 in range(T.int64(16)):
            with T.sblock("a_mean"):
                v_ax0 = T.axis.spatial(T.int64(16), ax0)
                T.reads(a_sum[v_ax0])
                T.writes(a_mean[v_ax0])
                a_mean[v_ax0] = a_sum[v_ax0] / T.float32(48.0)
        for ax0, k1 in T.grid(T.int64(16), T.int64(48)):
            with T.sblock("a_var_sum"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(a[v_ax0, v_k1], a_mean[v_ax0])
                T.writes(a_var_sum[v_ax0])
                with T.init():
                    a_var_sum[v_ax0] = T.float32(0.0)
                a_var_sum[v_ax0] = a_var_sum[v_ax0] + (a[v_ax0, v_k1] - a_mean[v_ax0]) * (a[v_ax0, v_k1] - a_mean[v_ax0])
        for ax0, ax1 in T.grid(T.int64(16), T.int64(48)):
            with T.sblock("T_layer_norm"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], a_mean[v_ax0], a_var_sum[v_ax0], g[v_ax1], b[v_ax1])
                T.writes(T_layer_norm[v_ax0, v_ax1])
                T_layer_norm[v_ax0, v_ax1] = (a[v_ax0, v_ax1] - a_mean[v_ax0]) * T.rsqrt(a_var_sum[v_ax0] / T.float32(48.0) + T.float32(9.999999747378752e-06)) * g[v_ax1] + b[v_ax1]

    @R.function
    def main(x: R.Tensor((16, 48), dtype="float32"), r: R.Tensor((16, 48), dtype="float32"), g: R.Tensor((48,), dtype="float32"), b: R.Tensor((48,), dtype="float32")) -> R.Tuple(R.Tensor((16, 48), dtype="float32"), R.Tensor((16, 48), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (x, r), out_ty=R.Tensor((16, 48), dtype="float32"))
            n = R.call_tir(cls.layer_norm, (a, g, b), out_ty=R.Tensor((16, 48), dtype="float32"))
            R.output(a, n)
        return (a, n)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(16), T.int64(48)), "float32"), r: T.Buffer((T.int64(16), T.int64(48)), "float32"), T_add: T.Buffer((T.int64(16), T.int64(48)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(48)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], r[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, v_ax1] + r[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def layer_norm(a: T.Buffer((T.int64(16), T.int64(48)), "float32"), g: T.Buffer((T.int64(48),), "float32"), b: T.Buffer((T.int64(48),), "float32"), T_layer_norm: T.Buffer((T.int64(16), T.int64(48)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        a_sum = T.sblock_alloc_buffer((T.int64(16),))
        a_mean = T.sblock_alloc_buffer((T.int64(16),))
        a_var_sum = T.sblock_alloc_buffer((T.int64(16),))
        for ax0, k1 in T.grid(T.int64(16), T.int64(48)):
            with T.sblock("a_sum"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(a[v_ax0, v_k1])
                T.writes(a_sum[v_ax0])
                with T.init():
                    a_sum[v_ax0] = T.float32(0.0)
                a_sum[v_ax0] = a_sum[v_ax0] + a[v_ax0, v_k1]
        for ax0 in range(T.int64(16)):
            with T.sblock("a_mean"):
                v_ax0 = T.axis.spatial(T.int64(16), ax0)
                T.reads(a_sum[v_ax0])
                T.writes(a_mean[v_ax0])
                a_mean[v_ax0] = a_sum[v_ax0] / T.float32(48.0)
        for ax0, k1 in T.grid(T.int64(16), T.int64(48)):
            with T.sblock("a_var_sum"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(a[v_ax0, v_k1], a_mean[v_ax0])
                T.writes(a_var_sum[v_ax0])
                with T.init():
                    a_var_sum[v_ax0] = T.float32(0.0)
                a_var_sum[v_ax0] = a_var_sum[v_ax0] + (a[v_ax0, v_k1] - a_mean[v_ax0]) * (a[v_ax0, v_k1] - a_mean[v_ax0])
        for ax0, ax1 in T.grid(T.int64(16), T.int64(48)):
            with T.sblock("T_layer_norm"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], a_mean[v_ax0], a_var_sum[v_ax0], g[v_ax1], b[v_ax1])
                T.writes(T_layer_norm[v_ax0, v_ax1])
                T_layer_norm[v_ax0, v_ax1] = (a[v_ax0, v_ax1] - a_mean[v_ax0]) * T.rsqrt(a_var_sum[v_ax0] / T.float32(48.0) + T.float32(9.999999747378752e-06)) * g[v_ax1] + b[v_ax1]

    @R.function(private=True)
    def fused_add_layer_norm(x: R.Tensor((16, 48), dtype="float32"), r: R.Tensor((16, 48), dtype="float32"), g: R.Tensor((48,), dtype="float32"), b: R.Tensor((48,), dtype="float32")) -> R.Tuple(R.Tensor((16, 48), dtype="float32"), R.Tensor((16, 48), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (x, r), out_ty=R.Tensor((16, 48), dtype="float32"))
            n = R.call_tir(cls.layer_norm, (a, g, b), out_ty=R.Tensor((16, 48), dtype="float32"))
            R.output(a, n)
        return (a, n)

    @R.function
    def main(x: R.Tensor((16, 48), dtype="float32"), r: R.Tensor((16, 48), dtype="float32"), g: R.Tensor((48,), dtype="float32"), b: R.Tensor((48,), dtype="float32")) -> R.Tuple(R.Tensor((16, 48), dtype="float32"), R.Tensor((16, 48), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv: R.Tuple(R.Tensor((16, 48), dtype="float32"), R.Tensor((16, 48), dtype="float32")) = cls.fused_add_layer_norm(x, r, g, b)
            a: R.Tensor((16, 48), dtype="float32") = gv[0]
            n: R.Tensor((16, 48), dtype="float32") = gv[1]
            R.output(gv, a, n)
        return (a, n)
