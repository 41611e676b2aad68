# run: LowerKernels
# target: llvm -mcpu=x86-64-v4 -threads=2
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def masked(x: T.Buffer((T.int64(10),), "float32"), y: T.Buffer((T.int64(10),), "float32")):
        for i in T.vectorized(T.int64(16)):
            if i < T.int64(10):
                y[i] = T.exp(x[i])

    @T.prim_func(private=True)
    def chosen(x: T.Buffer((T.int64(16),), "float32"), y: T.Buffer((T.int64(16),), "float32")):
        for i in T.vectorized(T.int64(16)):
            y[i] = T.if_then_else(i < T.int64(10), T.exp(x[i]), T.float32(0))
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def dt_chosen(x: T.Buffer((T.int64(16),), "float32"), y: T.Buffer((T.int64(16),), "float32")):
        x_1 = T.decl_buffer((T.int64(16),), data=x.data)
        y_1 = T.decl_buffer((T.int64(16),), data=y.data)
        y_1[T.int64(0):T.int64(16)] = T.if_then_else(T.Ramp(T.int64(0), T.int64(1), 16) < T.Broadcast(T.int64(10), 16), T.exp(x_1[T.Ramp(T.int64(0), T.int64(1), 16)]), T.Broadcast(T.float32(0.0), 16))

    @T.prim_func(private=True)
    def dt_masked(x: T.Buffer((T.int64(10),), "float32"), y: T.Buffer((T.int64(10),), "float32")):
        x_1 = T.decl_buffer((T.int64(10),), data=x.data)
        y_1 = T.decl_buffer((T.int64(10),), data=y.data)
        if T.Ramp(T.int64(0), T.int64(1), 16) < T.Broadcast(T.int64(10), 16):
            y_1[T.int64(0):T.int64(16)] = T.exp(x_1[T.Ramp(T.int64(0), T.int64(1), 16)])
