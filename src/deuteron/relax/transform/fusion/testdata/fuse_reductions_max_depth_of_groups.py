# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# config: relax.FuseOps.max_depth=3
# expect-remark: FuseReductions s -> q: depth-limit
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def exp(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), y: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.exp(x[vi, vj])

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
    def sqrt(s: T.Buffer((T.int64(16),), "float32"), r: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"op_pattern": 0})
        for i in range(T.int64(16)):
            with T.sblock("r"):
                vi = T.axis.spatial(T.int64(16), i)
                r[vi] = T.sqrt(s[vi])

    @R.function(private=True)
    def roots(s: R.Tensor((16,), dtype="float32")) -> R.Tensor((16,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            r = R.call_tir(cls.sqrt, (s,), out_ty=R.Tensor((16,), dtype="float32"))
            q = R.call_tir(cls.sqrt, (r,), out_ty=R.Tensor((16,), dtype="float32"))
            R.output(q)
        return q

    @R.function(private=True)
    def sum_exp(x: R.Tensor((16, 32), dtype="float32")) -> R.Tensor((16,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.exp, (x,), out_ty=R.Tensor((16, 32), dtype="float32"))
            s = R.call_tir(cls.sum, (e,), out_ty=R.Tensor((16,), dtype="float32"))
            R.output(s)
        return s

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32")):
        cls = Module
        with R.dataflow():
            s: R.Tensor((16,), dtype="float32") = cls.sum_exp(x)
            q: R.Tensor((16,), dtype="float32") = cls.roots(s)
            R.output(q)
        return q
# ----- expected
# as before: exp, main, roots, sqrt, sum, sum_exp
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
