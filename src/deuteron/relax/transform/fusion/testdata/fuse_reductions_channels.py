# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions s -> y: fused
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(2), T.int64(64), T.int64(20)), "float32"), s: T.Buffer((T.int64(2), T.int64(20)), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, k, j in T.grid(T.int64(2), T.int64(20), T.int64(64)):
            with T.sblock("s"):
                vi, vk, vj = T.axis.remap("SSR", [i, k, j])
                with T.init():
                    s[vi, vk] = T.float32(0.0)
                s[vi, vk] = s[vi, vk] + x[vi, vj, vk]

    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((T.int64(2), T.int64(64), T.int64(20)), "float32"), s: T.Buffer((T.int64(2), T.int64(20)), "float32"), y: T.Buffer((T.int64(2), T.int64(64), T.int64(20)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j, k in T.grid(T.int64(2), T.int64(64), T.int64(20)):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                y[vi, vj, vk] = x[vi, vj, vk] / s[vi, vk]

    @R.function
    def main(x: R.Tensor((2, 64, 20), dtype="float32")):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((2, 20), dtype="float32"))
            y = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((2, 64, 20), dtype="float32"))
            R.output(y)
        return y
# ----- expected
# as before: divide, sum
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_sum_divide(x: R.Tensor((2, 64, 20), dtype="float32")) -> R.Tensor((2, 64, 20), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((2, 20), dtype="float32"))
            y = R.call_tir(cls.divide, (x, s), out_ty=R.Tensor((2, 64, 20), dtype="float32"))
            R.output(y)
        return y

    @R.function
    def main(x: R.Tensor((2, 64, 20), dtype="float32")) -> R.Tensor((2, 64, 20), dtype="float32"):
        cls = Module
        with R.dataflow():
            y: R.Tensor((2, 64, 20), dtype="float32") = cls.fused_sum_divide(x)
            R.output(y)
        return y
