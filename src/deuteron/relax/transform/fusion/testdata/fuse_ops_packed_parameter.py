# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
# expect-remark: FuseOps a -> b: opaque-producer
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), p: R.Tuple(R.Tensor((4, 8), "float32"), R.Tensor((4, 8), "float32"))):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = p[1]
            b = R.add(x, a)
            gv = R.exp(b)
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
    def add(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), a: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], a[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, v_ax1] + a[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(b: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(b[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(b[v_i0, v_i1])

    @R.function(private=True)
    def fused_add_tir_exp(x: R.Tensor((4, 8), dtype="float32"), a: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.add, (x, a), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (b,), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), p: R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"))) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            a: R.Tensor((4, 8), dtype="float32") = p[1]
            gv: R.Tensor((4, 8), dtype="float32") = cls.fused_add_tir_exp(x, a)
            R.output(gv)
        return gv
