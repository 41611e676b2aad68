# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions e -> s: fused
# expect: changes
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((n, T.int64(100)), "float32"), m: T.Buffer((n,), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(n, T.int64(100)):
            with T.sblock("m"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    m[vi] = T.float32("-inf")
                m[vi] = T.max(m[vi], x[vi, vj])

    @T.prim_func(private=True, s_tir=True)
    def exp(x: T.Buffer((n, T.int64(100)), "float32"), m: T.Buffer((n,), "float32"), y: T.Buffer((n, T.int64(100)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(n, T.int64(100)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.exp(x[vi, vj] - m[vi])

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((n, T.int64(100)), "float32"), s: T.Buffer((n,), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(n, T.int64(100)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0.0)
                s[vi] = s[vi] + x[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((n, T.int64(100)), "float32"), s: T.Buffer((n,), "float32"), y: T.Buffer((n, T.int64(100)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(n, T.int64(100)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] / s[vi]

    @R.function
    def main(x: R.Tensor((n, 100), dtype="float32")):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((n,), dtype="float32"))
            e = R.call_tir(cls.exp, (x, m), out_ty=R.Tensor((n, 100), dtype="float32"))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((n,), dtype="float32"))
            y = R.call_tir(cls.divide, (e, s), out_ty=R.Tensor((n, 100), dtype="float32"))
            R.output(y)
        return y
# ----- expected
# as before: divide, exp, max, sum
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(private=True)
    def fused_max_exp_sum_divide(x: R.Tensor((n, 100), dtype="float32")) -> R.Tensor((n, 100), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((n,), dtype="float32"))
            e = R.call_tir(cls.exp, (x, m), out_ty=R.Tensor((n, 100), dtype="float32"))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((n,), dtype="float32"))
            y = R.call_tir(cls.divide, (e, s), out_ty=R.Tensor((n, 100), dtype="float32"))
            R.output(y)
        return y

    @R.function
    def main(x: R.Tensor((n, 100), dtype="float32")) -> R.Tensor((n, 100), dtype="float32"):
        cls = Module
        with R.dataflow():
            y: R.Tensor((n, 100), dtype="float32") = cls.fused_max_exp_sum_divide(x)
            R.output(y)
        return y
