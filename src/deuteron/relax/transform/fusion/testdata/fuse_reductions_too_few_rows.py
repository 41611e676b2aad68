# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions s -> y: too-few-rows
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(1), T.int64(50000)), "float32"), s: T.Buffer((T.int64(1),), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(T.int64(1), T.int64(50000)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0.0)
                s[vi] = s[vi] + x[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((T.int64(1), T.int64(50000)), "float32"), s: T.Buffer((T.int64(1),), "float32"), y: T.Buffer((T.int64(1), T.int64(50000)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(T.int64(1), T.int64(50000)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] / s[vi]

    @R.function
    def main(x: R.Tensor((1, 50000), dtype="float32")):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((1,), dtype="float32"))
            y = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((1, 50000), dtype="float32"))
            R.output(y)
        return y
# ----- expected
# as before: divide, main, sum
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
