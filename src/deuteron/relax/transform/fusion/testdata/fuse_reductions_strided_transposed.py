# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions t -> s: not-row-by-row
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(64), T.int64(96)), "float32"), y: T.Buffer((T.int64(96), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 2})
        for i, j in T.grid(T.int64(96), T.int64(64)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vj, vi]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(96), T.int64(64)), "float32"), s: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"op_pattern": 3})
        for j, i in T.grid(T.int64(64), T.int64(96)):
            with T.sblock("s"):
                vj, vi = T.axis.remap("SR", [j, i])
                with T.init():
                    s[vj] = T.float32(0.0)
                s[vj] = s[vj] + x[vi, vj]

    @R.function
    def main(x: R.Tensor((64, 96), dtype="float32")):
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((96, 64), dtype="float32"))
            s = R.call_tir(cls.sum, (t,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(s)
        return s
# ----- expected
# as before: main, sum, transpose
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
