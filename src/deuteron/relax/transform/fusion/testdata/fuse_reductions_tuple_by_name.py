# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions lv -> s: fused
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def split(x: T.Buffer((T.int64(64), T.int64(16)), "float32"), y: T.Buffer((T.int64(64), T.int64(8)), "float32"), z: T.Buffer((T.int64(64), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2})
        for i, j in T.grid(T.int64(64), T.int64(8)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj]
        for i, j in T.grid(T.int64(64), T.int64(8)):
            with T.sblock("z"):
                vi, vj = T.axis.remap("SS", [i, j])
                z[vi, vj] = x[vi, vj + T.int64(8)]

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(64), T.int64(8)), "float32"), s: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(T.int64(64), T.int64(8)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0.0)
                s[vi] = s[vi] + x[vi, vj]

    @R.function(private=True)
    def halves(x: R.Tensor((64, 16), dtype="float32")) -> R.Tuple(R.Tensor((64, 8), dtype="float32"), R.Tensor((64, 8), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((64, 8), dtype="float32"), R.Tensor((64, 8), dtype="float32")])
            R.output(lv)
        return lv

    @R.function
    def main(x: R.Tensor((64, 16), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((64, 8), dtype="float32"), R.Tensor((64, 8), dtype="float32")) = cls.halves(x)
            a = lv[0]
            b = lv[1]
            s = R.call_tir(cls.sum, (a,), out_ty=R.Tensor((64,), dtype="float32"))
            t = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(s, t)
        return (s, t)
# ----- expected
# as before: halves, split, sum
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_split_sum_sum(x: R.Tensor((64, 16), dtype="float32")) -> R.Tuple(R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((64, 8), dtype="float32"), R.Tensor((64, 8), dtype="float32")])
            a: R.Tensor((64, 8), dtype="float32") = lv[0]
            b: R.Tensor((64, 8), dtype="float32") = lv[1]
            s = R.call_tir(cls.sum, (a,), out_ty=R.Tensor((64,), dtype="float32"))
            t = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((64,), dtype="float32"))
            R.output(s, t)
        return (s, t)

    @R.function
    def main(x: R.Tensor((64, 16), dtype="float32")) -> R.Tuple(R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv: R.Tuple(R.Tensor((64,), dtype="float32"), R.Tensor((64,), dtype="float32")) = cls.fused_split_sum_sum(x)
            s: R.Tensor((64,), dtype="float32") = gv[0]
            t: R.Tensor((64,), dtype="float32") = gv[1]
            R.output(gv, s, t)
        return (s, t)
