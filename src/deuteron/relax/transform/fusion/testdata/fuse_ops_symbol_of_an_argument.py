# run: FuseOps(fuse_opt_level=2)
n = TypeVar("n")
m = TypeVar("m")
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((n, T.int64(4)), "float32"), compute: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_scale(a: T.Buffer((n, T.int64(4)), "float32"), compute: T.Buffer((n, T.int64(4)), "float32"), m: T.int64):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((k, 4), dtype="float32")) -> R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor(dtype="float32", ndim=2)):
        m_1 = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((n, 4), dtype="float32"))
            c: R.Tensor((m_1, 4), dtype="float32") = R.match_cast(y, R.Tensor((m_1, 4), dtype="float32"))
            gv = R.call_tir(cls.tir_scale, (a,), out_ty=R.Tensor((n, 4), dtype="float32"), tir_vars=R.shape([m_1]))
            R.output(gv, c)
        return (gv, c)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m_1 = TypeVar("m_1")
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((n, T.int64(4)), "float32"), compute: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_scale(a: T.Buffer((n, T.int64(4)), "float32"), compute: T.Buffer((n, T.int64(4)), "float32"), m: T.int64):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_tir_exp_tir_scale(x: R.Tensor((n, 4), dtype="float32"), tir_vars: R.Shape([m_1])) -> R.Tensor((n, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((n, 4), dtype="float32"))
            gv = R.call_tir(cls.tir_scale, (a,), out_ty=R.Tensor((n, 4), dtype="float32"), tir_vars=R.shape([m_1]))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((k, 4), dtype="float32")) -> R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor(dtype="float32", ndim=2)):
        m_1_1 = T.int64()
        cls = Module
        with R.dataflow():
            c: R.Tensor((m_1_1, 4), dtype="float32") = R.match_cast(y, R.Tensor((m_1_1, 4), dtype="float32"))
            gv: R.Tensor((n, 4), dtype="float32") = cls.fused_tir_exp_tir_scale(x, R.shape([m_1_1]))
            R.output(c, gv)
        return (gv, c)
