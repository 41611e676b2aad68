# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions s -> y: not-row-by-row
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(8), T.int64(16), T.int64(12)), "float32"), s: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"op_pattern": 3})
        for j, i, k in T.grid(T.int64(16), T.int64(8), T.int64(12)):
            with T.sblock("s"):
                vj, vi, vk = T.axis.remap("SRR", [j, i, k])
                with T.init():
                    s[vj] = T.float32(0.0)
                s[vj] = s[vj] + x[vi, vj, vk]

    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((T.int64(8), T.int64(16), T.int64(12)), "float32"), s: T.Buffer((T.int64(16),), "float32"), y: T.Buffer((T.int64(8), T.int64(16), T.int64(12)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j, k in T.grid(T.int64(8), T.int64(16), T.int64(12)):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                T.sblock_attr({"op_pattern": 8})
                y[vi, vj, vk] = x[vi, vj, vk] / s[vj]

    @R.function
    def main(x: R.Tensor((8, 16, 12), dtype="float32")):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((16,), dtype="float32"))
            y = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((8, 16, 12), dtype="float32"))
            R.output(y)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((T.int64(8), T.int64(16), T.int64(12)), "float32"), s: T.Buffer((T.int64(16),), "float32"), y: T.Buffer((T.int64(8), T.int64(16), T.int64(12)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        for i, j, k in T.grid(T.int64(8), T.int64(16), T.int64(12)):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                T.reads(x[vi, vj, vk], s[vj])
                T.writes(y[vi, vj, vk])
                T.sblock_attr({"op_pattern": 8})
                y[vi, vj, vk] = x[vi, vj, vk] / s[vj]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(8), T.int64(16), T.int64(12)), "float32"), s: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"op_pattern": 3})
        # with T.sblock("root"):
        for j, i, k in T.grid(T.int64(16), T.int64(8), T.int64(12)):
            with T.sblock("s"):
                vj, vi, vk = T.axis.remap("SRR", [j, i, k])
                T.reads(x[vi, vj, vk])
                T.writes(s[vj])
                with T.init():
                    s[vj] = T.float32(0.0)
                s[vj] = s[vj] + x[vi, vj, vk]

    @R.function
    def main(x: R.Tensor((8, 16, 12), dtype="float32")) -> R.Tensor((8, 16, 12), dtype="float32"):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((16,), dtype="float32"))
            y = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((8, 16, 12), dtype="float32"))
            R.output(y)
        return y
