# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions r -> q: fused
# expect-remark: FuseReductions q -> y: fused
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reshape(x: T.Buffer((T.int64(2), T.int64(6), T.int64(4), T.int64(4)), "float32"), y: T.Buffer((T.int64(2), T.int64(3), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 2})
        for i, j, k in T.grid(T.int64(2), T.int64(3), T.int64(32)):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                y[vi, vj, vk] = x[vi, vj * T.int64(2) + vk // T.int64(16), vk // T.int64(4) % T.int64(4), vk % T.int64(4)]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(2), T.int64(3), T.int64(32)), "float32"), s: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j, k in T.grid(T.int64(2), T.int64(3), T.int64(32)):
            with T.sblock("s"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    s[vi, vj] = T.float32(0.0)
                s[vi, vj] = s[vi, vj] + x[vi, vj, vk]

    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((T.int64(2), T.int64(3), T.int64(32)), "float32"), s: T.Buffer((T.int64(2), T.int64(3)), "float32"), y: T.Buffer((T.int64(2), T.int64(3), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j, k in T.grid(T.int64(2), T.int64(3), T.int64(32)):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                y[vi, vj, vk] = x[vi, vj, vk] / s[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def reshape1(x: T.Buffer((T.int64(2), T.int64(3), T.int64(32)), "float32"), y: T.Buffer((T.int64(2), T.int64(6), T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2})
        for i, j, k, l in T.grid(T.int64(2), T.int64(6), T.int64(4), T.int64(4)):
            with T.sblock("y"):
                vi, vj, vk, vl = T.axis.remap("SSSS", [i, j, k, l])
                y[vi, vj, vk, vl] = x[vi, vj // T.int64(2), vk * T.int64(4) + vl + vj % T.int64(2) * T.int64(16)]

    @R.function
    def main(x: R.Tensor((2, 6, 4, 4), dtype="float32")):
        cls = Module
        with R.dataflow():
            r = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((2, 3, 32), dtype="float32"))
            s = R.call_tir(cls.sum, (r,), out_ty=R.Tensor((2, 3), dtype="float32"))
            q = R.call_tir(cls.divide, (r, s), out_ty=R.Tensor((2, 3, 32), dtype="float32"))
            y = R.call_tir(cls.reshape1, (q,), out_ty=R.Tensor((2, 6, 4, 4), dtype="float32"))
            R.output(y)
        return y
# ----- expected
# as before: divide, reshape, reshape1, sum
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_reshape_sum_divide_reshape1(x: R.Tensor((2, 6, 4, 4), dtype="float32")) -> R.Tensor((2, 6, 4, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            r = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((2, 3, 32), dtype="float32"))
            s = R.call_tir(cls.sum, (r,), out_ty=R.Tensor((2, 3), dtype="float32"))
            q = R.call_tir(cls.divide, (r, s), out_ty=R.Tensor((2, 3, 32), dtype="float32"))
            y = R.call_tir(cls.reshape1, (q,), out_ty=R.Tensor((2, 6, 4, 4), dtype="float32"))
            R.output(y)
        return y

    @R.function
    def main(x: R.Tensor((2, 6, 4, 4), dtype="float32")) -> R.Tensor((2, 6, 4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            y: R.Tensor((2, 6, 4, 4), dtype="float32") = cls.fused_reshape_sum_divide_reshape1(x)
            R.output(y)
        return y
