# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions e -> t: rows-differ
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), s: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0.0)
                s[vi] = s[vi] + x[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), s: T.Buffer((T.int64(16),), "float32"), y: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] / s[vi]

    @T.prim_func(private=True, s_tir=True)
    def sum1(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), s: T.Buffer((T.int64(32),), "float32")):
        T.func_attr({"op_pattern": 3})
        for j, i in T.grid(T.int64(32), T.int64(16)):
            with T.sblock("s"):
                vj, vi = T.axis.remap("SR", [j, i])
                with T.init():
                    s[vj] = T.float32(0.0)
                s[vj] = s[vj] + x[vi, vj]

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32")):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((16,), dtype="float32"))
            e = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((16, 32), dtype="float32"))
            t = R.call_tir(cls.sum1, (e,), out_ty=R.Tensor((32,), dtype="float32"))
            R.output(t)
        return t
# ----- expected
# as before: divide, sum, sum1
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_sum_divide(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16, 32), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((16,), dtype="float32"))
            e = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((16, 32), dtype="float32"))
            R.output(e)
        return e

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((32,), dtype="float32"):
        cls = Module
        with R.dataflow():
            e: R.Tensor((16, 32), dtype="float32") = cls.fused_sum_divide(x)
            t = R.call_tir(cls.sum1, (e,), out_ty=R.Tensor((32,), dtype="float32"))
            R.output(t)
        return t
