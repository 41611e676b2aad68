# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("k", 4), "float32")):
        m = T.int64()
        with R.dataflow():
            a = R.exp(x)
            c = R.match_cast(y, R.Tensor((m, 4), "float32"))
            gv = R.tanh(a)
            d = R.exp(c)
            gv1 = R.negative(d)
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((n, T.int64(4)), "float32"), compute: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(n, T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(d: T.Buffer((m, T.int64(4)), "float32"), compute: T.Buffer((m, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(m, T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(d[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = d[v_i0, v_i1] * T.float32(-1.0)

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(a: T.Buffer((n, T.int64(4)), "float32"), compute: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(n, T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.tanh(a[v_i0, v_i1])

    @R.function(private=True)
    def fused_tir_exp_tir_negative(c: R.Tensor((m, 4), dtype="float32")) -> R.Tensor((m, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            d = R.call_tir(cls.tir_exp, (c,), out_ty=R.Tensor((m, 4), dtype="float32"))
            gv1 = R.call_tir(cls.tir_negative, (d,), out_ty=R.Tensor((m, 4), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function(private=True)
    def fused_tir_exp_tir_tanh(x: R.Tensor((n, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((n, 4), dtype="float32"))
            gv = R.call_tir(cls.tir_tanh, (a,), out_ty=R.Tensor((n, 4), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((k, 4), dtype="float32")) -> R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor(dtype="float32", ndim=2)):
        m_1 = T.int64()
        cls = Module
        with R.dataflow():
            gv: R.Tensor((n, 4), dtype="float32") = cls.fused_tir_exp_tir_tanh(x)
            c: R.Tensor((m_1, 4), dtype="float32") = R.match_cast(y, R.Tensor((m_1, 4), dtype="float32"))
            gv1: R.Tensor((m_1, 4), dtype="float32") = cls.fused_tir_exp_tir_negative(c)
            R.output(gv, gv1)
        return (gv, gv1)
