# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @R.function
    def main(t: R.Tuple(R.Tensor((4, 8), "float32"), R.Tensor((4, 8), "float32"), R.Tensor((4, 8), "float32"))):
        with R.dataflow():
            a = t[0]
            b = t[2]
            c = R.add(a, b)
            gv = R.exp(c)
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
    def add(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), b: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], b[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = a[v_ax0, v_ax1] + b[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(c[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(c[v_i0, v_i1])

    @R.function(private=True)
    def fused_add_tir_exp(t_0: R.Tensor((4, 8), dtype="float32"), t_2: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.add, (t_0, t_2), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (c,), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(t: R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"))) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            t_0: R.Tensor((4, 8), dtype="float32") = t[0]
            t_2: R.Tensor((4, 8), dtype="float32") = t[2]
            gv: R.Tensor((4, 8), dtype="float32") = cls.fused_add_tir_exp(t_0, t_2)
            R.output(gv)
        return gv
