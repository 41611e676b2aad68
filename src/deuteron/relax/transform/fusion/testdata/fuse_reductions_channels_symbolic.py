# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions flat -> y: fused
# expect: changes
n = TypeVar("n")
h = TypeVar("h")
w = TypeVar("w")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reshape(x: T.Buffer((n, T.int64(64), h, w), "float32"), y: T.Buffer((n, T.int64(64), "h * w"), "float32")):
        T.func_attr({"op_pattern": 2})
        for i, j, k in T.grid(n, T.int64(64), h * w):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                y[vi, vj, vk] = x[vi, vj, vk // w, vk % w]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((n, T.int64(64), "h * w"), "float32"), s: T.Buffer((n, "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"op_pattern": 3})
        for i, k, j in T.grid(n, h * w, T.int64(64)):
            with T.sblock("s"):
                vi, vk, vj = T.axis.remap("SSR", [i, k, j])
                with T.init():
                    s[vi, vk] = T.float32(0.0)
                s[vi, vk] = s[vi, vk] + x[vi, vj, vk]

    @T.prim_func(private=True, s_tir=True)
    def divide(x: T.Buffer((n, T.int64(64), "h * w"), "float32"), s: T.Buffer((n, "h * w"), "float32"), y: T.Buffer((n, T.int64(64), "h * w"), "float32"), h: T.int64, w: T.int64):
        T.func_attr({"op_pattern": 0})
        for i, j, k in T.grid(n, T.int64(64), h * w):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                y[vi, vj, vk] = x[vi, vj, vk] / s[vi, vk]

    @R.function
    def main(x: R.Tensor((n, 64, h, w), dtype="float32")):
        cls = Module
        with R.dataflow():
            flat = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((n, 64, h * w), dtype="float32"))
            s = R.call_tir(cls.sum, (flat,), out_ty=R.Tensor((n, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            y = R.call_tir(cls.divide, (flat, s), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            R.output(y)
        return y
# ----- expected
# as before: divide, reshape, sum
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
h = TypeVar("h")
w = TypeVar("w")
@I.ir_module
class Module:
    @R.function(private=True)
    def fused_reshape_sum_divide(x: R.Tensor((n, 64, h, w), dtype="float32")) -> R.Tensor((n, 64, "h * w"), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            flat = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((n, 64, h * w), dtype="float32"))
            s = R.call_tir(cls.sum, (flat,), out_ty=R.Tensor((n, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            y = R.call_tir(cls.divide, (flat, s), out_ty=R.Tensor((n, 64, h * w), dtype="float32"), tir_vars=R.shape([h, w]))
            R.output(y)
        return y

    @R.function
    def main(x: R.Tensor((n, 64, h, w), dtype="float32")) -> R.Tensor((n, 64, "h * w"), dtype="float32"):
        cls = Module
        with R.dataflow():
            y: R.Tensor((n, 64, h * w), dtype="float32") = cls.fused_reshape_sum_divide(x)
            R.output(y)
        return y
