# run: AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions e -> s: row-exceeds-cache
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(lv: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), e: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), T_add: T.Buffer((T.int64(1000000), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(1000000), T.int64(64)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv[v_ax0, v_ax1], e[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = lv[v_ax0, v_ax1] + e[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def max(e: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), e_red: T.Buffer((T.int64(1), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1, k0 in T.grid(T.int64(1), T.int64(64), T.int64(1000000)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_k0 = T.axis.remap("SSR", [ax0, ax1, k0])
                T.reads(e[v_k0, v_ax1])
                T.writes(e_red[v_ax0, v_ax1])
                with T.init():
                    e_red[v_ax0, v_ax1] = T.float32("-inf")
                e_red[v_ax0, v_ax1] = T.max(e_red[v_ax0, v_ax1], e[v_k0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def multiply(e: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), s: T.Buffer((T.int64(1), T.int64(64)), "float32"), T_multiply: T.Buffer((T.int64(1000000), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(1000000), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], s[T.int64(0), v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = e[v_ax0, v_ax1] * s[T.int64(0), v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), compute: T.Buffer((T.int64(1000000), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(1000000), T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((1000000, 64), dtype="float32")) -> R.Tensor((1000000, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((1000000, 64), dtype="float32"))
            s = R.call_tir(cls.max, (e,), out_ty=R.Tensor((1, 64), dtype="float32"))
            lv = R.call_tir(cls.multiply, (e, s), out_ty=R.Tensor((1000000, 64), dtype="float32"))
            gv = R.call_tir(cls.add, (lv, e), out_ty=R.Tensor((1000000, 64), dtype="float32"))
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
    def add(lv: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), e: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), T_add: T.Buffer((T.int64(1000000), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(1000000), T.int64(64)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv[v_ax0, v_ax1], e[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = lv[v_ax0, v_ax1] + e[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def max(e: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), e_red: T.Buffer((T.int64(1), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k0 in T.grid(T.int64(1), T.int64(64), T.int64(1000000)):
            with T.sblock("e_red"):
                v_ax0, v_ax1, v_k0 = T.axis.remap("SSR", [ax0, ax1, k0])
                T.reads(e[v_k0, v_ax1])
                T.writes(e_red[v_ax0, v_ax1])
                with T.init():
                    e_red[v_ax0, v_ax1] = T.float32("-inf")
                e_red[v_ax0, v_ax1] = T.max(e_red[v_ax0, v_ax1], e[v_k0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def multiply(e: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), s: T.Buffer((T.int64(1), T.int64(64)), "float32"), T_multiply: T.Buffer((T.int64(1000000), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(1000000), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(e[v_ax0, v_ax1], s[T.int64(0), v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = e[v_ax0, v_ax1] * s[T.int64(0), v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(1000000), T.int64(64)), "float32"), compute: T.Buffer((T.int64(1000000), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(1000000), T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function(private=True)
    def fused_multiply_add(e: R.Tensor((1000000, 64), dtype="float32"), s: R.Tensor((1, 64), dtype="float32")) -> R.Tensor((1000000, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.multiply, (e, s), out_ty=R.Tensor((1000000, 64), dtype="float32"))
            gv = R.call_tir(cls.add, (lv, e), out_ty=R.Tensor((1000000, 64), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((1000000, 64), dtype="float32")) -> R.Tensor((1000000, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((1000000, 64), dtype="float32"))
            s = R.call_tir(cls.max, (e,), out_ty=R.Tensor((1, 64), dtype="float32"))
            gv: R.Tensor((1000000, 64), dtype="float32") = cls.fused_multiply_add(e, s)
            R.output(gv)
        return gv
