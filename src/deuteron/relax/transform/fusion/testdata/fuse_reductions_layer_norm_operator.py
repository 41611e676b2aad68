# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions a -> n: fused
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), r: T.Buffer((T.int64(16), T.int64(32)), "float32"), y: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] + r[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def norm(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), y: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 3})
        s = T.sblock_alloc_buffer((T.int64(16),))
        for i, j in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0.0)
                s[vi] = s[vi] + x[vi, vj]
        for i, j in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] / s[vi]

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32"), r: R.Tensor((16, 32), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (x, r), out_ty=R.Tensor((16, 32), dtype="float32"))
            n = R.call_tir(cls.norm, (a,), out_ty=R.Tensor((16, 32), dtype="float32"))
            R.output(a, n)
        return (a, n)
# ----- expected
# as before: add, norm
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_add_norm(x: R.Tensor((16, 32), dtype="float32"), r: R.Tensor((16, 32), dtype="float32")) -> R.Tuple(R.Tensor((16, 32), dtype="float32"), R.Tensor((16, 32), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (x, r), out_ty=R.Tensor((16, 32), dtype="float32"))
            n = R.call_tir(cls.norm, (a,), out_ty=R.Tensor((16, 32), dtype="float32"))
            R.output(a, n)
        return (a, n)

    @R.function
    def main(x: R.Tensor((16, 32), dtype="float32"), r: R.Tensor((16, 32), dtype="float32")) -> R.Tuple(R.Tensor((16, 32), dtype="float32"), R.Tensor((16, 32), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv: R.Tuple(R.Tensor((16, 32), dtype="float32"), R.Tensor((16, 32), dtype="float32")) = cls.fused_add_norm(x, r)
            a: R.Tensor((16, 32), dtype="float32") = gv[0]
            n: R.Tensor((16, 32), dtype="float32") = gv[1]
            R.output(gv, a, n)
        return (a, n)
