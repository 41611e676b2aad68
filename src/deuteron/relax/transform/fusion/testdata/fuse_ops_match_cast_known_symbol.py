# run: FuseOps(fuse_opt_level=2)
# expect-remark: FuseOps c -> gv: fused
n = TypeVar("n")
m = TypeVar("m")
k = TypeVar("k")
j = TypeVar("j")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((n, T.int64(4)), "float32"), compute: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(c: T.Buffer((n, m), "float32"), compute: T.Buffer((n, m), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(b: T.Buffer((n, m), "float32"), compute: T.Buffer((n, m), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((k, j), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor((n, 4), dtype="float32")):
        m_1 = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((n, 4), dtype="float32"))
            b: R.Tensor((n, m_1), dtype="float32") = R.match_cast(y, R.Tensor((n, m_1), dtype="float32"))
            c = R.call_tir(cls.tir_tanh, (b,), out_ty=R.Tensor((n, m_1), dtype="float32"))
            gv = R.call_tir(cls.tir_negative, (c,), out_ty=R.Tensor((n, m_1), dtype="float32"))
            gv1 = R.call_tir(cls.tir_exp, (a,), out_ty=R.Tensor((n, 4), dtype="float32"))
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
m_1 = TypeVar("m_1")
k = TypeVar("k")
j = TypeVar("j")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((n, T.int64(4)), "float32"), compute: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(c: T.Buffer((n, m), "float32"), compute: T.Buffer((n, m), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(b: T.Buffer((n, m), "float32"), compute: T.Buffer((n, m), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_tir_exp_tir_exp(x: R.Tensor((n, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((n, 4), dtype="float32"))
            gv1 = R.call_tir(cls.tir_exp, (a,), out_ty=R.Tensor((n, 4), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function(private=True)
    def fused_tir_tanh_tir_negative(b: R.Tensor((n, m_1), dtype="float32")) -> R.Tensor((n, m_1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.tir_tanh, (b,), out_ty=R.Tensor((n, m_1), dtype="float32"))
            gv = R.call_tir(cls.tir_negative, (c,), out_ty=R.Tensor((n, m_1), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((k, j), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor((n, 4), dtype="float32")):
        m_1_1 = T.int64()
        cls = Module
        with R.dataflow():
            gv1: R.Tensor((n, 4), dtype="float32") = cls.fused_tir_exp_tir_exp(x)
            b: R.Tensor((n, m_1_1), dtype="float32") = R.match_cast(y, R.Tensor((n, m_1_1), dtype="float32"))
            gv: R.Tensor((n, m_1_1), dtype="float32") = cls.fused_tir_tanh_tir_negative(b)
            R.output(gv1, gv)
        return (gv, gv1)
