# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
# config: tvm_compat=true
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.sum(a, axis=1)
            gv = R.nn.relu(b)
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
    def relu(b: T.Buffer((T.int64(4),), "float32"), compute: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0 in range(T.int64(4)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(b[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.max(b[v_i0], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def sum(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), a_red: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, k1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("a_red"):
                v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
                T.reads(a[v_ax0, v_k1])
                T.writes(a_red[v_ax0])
                with T.init():
                    a_red[v_ax0] = T.float32(0.0)
                a_red[v_ax0] = a_red[v_ax0] + a[v_ax0, v_k1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function(private=True)
    def fused_tir_exp_sum(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            b = R.call_tir(cls.sum, (a,), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((4,), dtype="float32") = cls.fused_tir_exp_sum(x)
            gv = R.call_tir(cls.relu, (b,), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(gv)
        return gv
