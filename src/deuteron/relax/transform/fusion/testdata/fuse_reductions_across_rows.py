# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2 -l1-bytes=32768
# expect-remark: FuseReductions t -> s: rows-out-of-step
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(256), T.int64(256)), "float32"), t: T.Buffer((T.int64(256), T.int64(256)), "float32")):
        T.func_attr({"op_pattern": 2})
        for i, j in T.grid(T.int64(256), T.int64(256)):
            with T.sblock("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                t[vi, vj] = x[vj, vi]

    @T.prim_func(private=True, s_tir=True)
    def sum(t: T.Buffer((T.int64(256), T.int64(256)), "float32"), s: T.Buffer((T.int64(256),), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(T.int64(256), T.int64(256)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0.0)
                s[vi] = s[vi] + t[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), t: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 2})
        for i, j in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                t[vi, vj] = x[vj, vi]

    @T.prim_func(private=True, s_tir=True)
    def sum1(t: T.Buffer((T.int64(64), T.int64(64)), "float32"), s: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0.0)
                s[vi] = s[vi] + t[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def divide(t: T.Buffer((T.int64(256), T.int64(256)), "float32"), s: T.Buffer((T.int64(256),), "float32"), d: T.Buffer((T.int64(256), T.int64(256)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(T.int64(256), T.int64(256)):
            with T.sblock("d"):
                vi, vj = T.axis.remap("SS", [i, j])
                d[vi, vj] = t[vi, vj] / s[vi]

    @T.prim_func(private=True, s_tir=True)
    def divide1(t: T.Buffer((T.int64(64), T.int64(64)), "float32"), s: T.Buffer((T.int64(64),), "float32"), d: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("d"):
                vi, vj = T.axis.remap("SS", [i, j])
                d[vi, vj] = t[vi, vj] / s[vi]

    @R.function
    def main(x: R.Tensor((256, 256), dtype="float32"), y: R.Tensor((64, 64), dtype="float32")):
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((256, 256), dtype="float32"))
            s = R.call_tir(cls.sum, (t,), out_ty=R.Tensor((256,), dtype="float32"))
            d = R.call_tir(cls.divide, (t, s), out_ty=R.Tensor((256, 256), dtype="float32"))
            t1 = R.call_tir(cls.transpose1, (y,), out_ty=R.Tensor((64, 64), dtype="float32"))
            s1 = R.call_tir(cls.sum1, (t1,), out_ty=R.Tensor((64,), dtype="float32"))
            d1 = R.call_tir(cls.divide1, (t1, s1), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(d, d1)
        return d, d1
# ----- expected
# as before: divide, divide1, sum, sum1, transpose, transpose1
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_sum_divide(t: R.Tensor((256, 256), dtype="float32")) -> R.Tensor((256, 256), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.sum, (t,), out_ty=R.Tensor((256,), dtype="float32"))
            d = R.call_tir(cls.divide, (t, s), out_ty=R.Tensor((256, 256), dtype="float32"))
            R.output(d)
        return d

    @R.function(private=True)
    def fused_transpose1_sum1_divide1(y: R.Tensor((64, 64), dtype="float32")) -> R.Tensor((64, 64), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            t1 = R.call_tir(cls.transpose1, (y,), out_ty=R.Tensor((64, 64), dtype="float32"))
            s1 = R.call_tir(cls.sum1, (t1,), out_ty=R.Tensor((64,), dtype="float32"))
            d1 = R.call_tir(cls.divide1, (t1, s1), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(d1)
        return d1

    @R.function
    def main(x: R.Tensor((256, 256), dtype="float32"), y: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((256, 256), dtype="float32"), R.Tensor((64, 64), dtype="float32")):
        cls = Module
        with R.dataflow():
            t = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((256, 256), dtype="float32"))
            d: R.Tensor((256, 256), dtype="float32") = cls.fused_sum_divide(t)
            d1: R.Tensor((64, 64), dtype="float32") = cls.fused_transpose1_sum1_divide1(y)
            R.output(d, d1)
        return (d, d1)
