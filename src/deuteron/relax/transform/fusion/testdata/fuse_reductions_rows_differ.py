# run: FuseReductions
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseReductions m -> t: rows-differ
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def max(x: T.Buffer((T.int64(16), T.int64(32), T.int64(64)), "float32"), s: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j, k in T.grid(T.int64(16), T.int64(32), T.int64(64)):
            with T.sblock("s"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    s[vi, vj] = T.float32("-inf")
                s[vi, vj] = T.max(s[vi, vj], x[vi, vj, vk])

    @T.prim_func(private=True, s_tir=True)
    def max1(x: T.Buffer((T.int64(16), T.int64(32)), "float32"), s: T.Buffer((T.int64(16),), "float32")):
        T.func_attr({"op_pattern": 3})
        for i, j in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32("-inf")
                s[vi] = T.max(s[vi], x[vi, vj])

    @R.function
    def main(x: R.Tensor((16, 32, 64), dtype="float32")):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.max, (x,), out_ty=R.Tensor((16, 32), dtype="float32"))
            t = R.call_tir(cls.max1, (m,), out_ty=R.Tensor((16,), dtype="float32"))
            R.output(t)
        return t
# ----- expected
# as before: main, max, max1
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
