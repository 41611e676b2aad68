# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions e -> gv: fused
# expect: changes
n = TypeVar("n")
k = TypeVar("k")
m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((m, T.int64(64)), "float32"), s: T.Buffer((m,), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(m, T.int64(64)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0.0)
                s[vi] = s[vi] + x[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((m, T.int64(64)), "float32"), s: T.Buffer((m,), "float32"), y: T.Buffer((m, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(m, T.int64(64)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] / s[vi]

    @R.function
    def main(x: R.Tensor((n, 64), dtype="float32"), y: R.Tensor((k, 64), dtype="float32")):
        m = T.int64()
        cls = Module
        with R.dataflow():
            c: R.Tensor((m, 64), dtype="float32") = R.match_cast(y, R.Tensor((m, 64), dtype="float32"))
            s = R.call_tir(cls.sum, (c,), out_ty=R.Tensor((m,), dtype="float32"))
            e = R.call_tir(cls.divide, (c, s), out_ty=R.Tensor((m, 64), dtype="float32"))
            t = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((n,), dtype="float32"))
            gv1 = R.call_tir(cls.divide, (x, t), out_ty=R.Tensor((n, 64), dtype="float32"))
            gv = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((m,), dtype="float32"))
            R.output(gv1, gv)
        return (gv1, gv)
# ----- expected
# as before: divide, sum
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
    @R.function(private=True)
    def fused_sum_divide(x: R.Tensor((n, 64), dtype="float32")) -> R.Tensor((n, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((n,), dtype="float32"))
            gv1 = R.call_tir(cls.divide, (x, t), out_ty=R.Tensor((n, 64), dtype="float32"))
            R.output(gv1)
        return gv1

    @R.function(private=True)
    def fused_sum_divide_sum(c: R.Tensor((m, 64), dtype="float32")) -> R.Tensor((m,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (c,), out_ty=R.Tensor((m,), dtype="float32"))
            e = R.call_tir(cls.divide, (c, s), out_ty=R.Tensor((m, 64), dtype="float32"))
            gv = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((m,), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((n, 64), dtype="float32"), y: R.Tensor((k, 64), dtype="float32")) -> R.Tuple(R.Tensor((n, 64), dtype="float32"), R.Tensor(dtype="float32", ndim=1)):
        m_1 = T.int64()
        cls = Module
        with R.dataflow():
            c: R.Tensor((m_1, 64), dtype="float32") = R.match_cast(y, R.Tensor((m_1, 64), dtype="float32"))
            gv: R.Tensor((m_1,), dtype="float32") = cls.fused_sum_divide_sum(c)
            gv1: R.Tensor((n, 64), dtype="float32") = cls.fused_sum_divide(x)
            R.output(gv, gv1)
        return (gv1, gv)
