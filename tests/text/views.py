# run: LowerKernels
# target: llvm -mcpu=x86-64-v4 -threads=2
# Buffers of the same data are declared where their data is known.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def softmax(x: T.Buffer((T.int64(2), T.int64(3)), "float32"), hy: T.handle, n: T.int64):
        y = T.match_buffer(hy, (n, T.int64(3)), "float32")
        t = T.sblock_alloc_buffer((T.int64(2), T.int64(3)), "float32")
        for i, j in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                t[vi, vj] = T.exp(x[vi, vj])
        for i, j in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = t[vi, vj] + t[vi, vj]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def dt_softmax(x: T.Buffer((T.int64(2), T.int64(3)), "float32"), y: T.Buffer(("n", T.int64(3)), "float32"), n: T.int64):
        x_1 = T.decl_buffer((T.int64(6),), data=x.data)
        y_1 = T.decl_buffer((n * T.int64(3),), data=y.data)
        t = T.alloc_buffer((T.int64(6),))
        for i, j in T.grid(T.int64(2), T.int64(3)):
            t[i * T.int64(3) + j] = T.exp(x_1[i * T.int64(3) + j])
        for i, j in T.grid(T.int64(2), T.int64(3)):
            y_1[i * T.int64(3) + j] = t[i * T.int64(3) + j] + t[i * T.int64(3) + j]
