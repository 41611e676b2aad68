# run: LowerKernels
# Lanes beyond the end of a row add zeros: the accumulator is stored without a condition.
# target: llvm -mcpu=x86-64-v4 -threads=2
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def sums(x: T.Buffer((T.int64(100), n), "float32"), y: T.Buffer((n,), "float32")):
        for o in range((n + T.int64(15)) // T.int64(16)):
            sums = T.alloc_buffer((T.int64(16),))
            for i in T.vectorized(T.int64(16)):
                sums[i] = T.float32(0)
            for k in range(T.int64(100)):
                for i in T.vectorized(T.int64(16)):
                    if o * T.int64(16) + i < n:
                        sums[i] = sums[i] + x[k, o * T.int64(16) + i]
            for i in T.vectorized(T.int64(16)):
                if o * T.int64(16) + i < n:
                    y[o * T.int64(16) + i] = sums[i]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def dt_sums(x: T.Buffer((T.int64(100), n), "float32"), y: T.Buffer((n,), "float32")):
        x_1 = T.decl_buffer((T.int64(100) * n,), data=x.data)
        y_1 = T.decl_buffer((n,), data=y.data)
        for o in range((n + T.int64(15)) // T.int64(16)):
            sums = T.alloc_buffer((T.int64(16),))
            sums[T.int64(0):T.int64(16)] = T.Broadcast(T.float32(0.0), 16)
            if o * T.int64(16) + T.int64(16) <= n:
                for k in range(T.int64(100)):
                    sums[T.int64(0):T.int64(16)] = sums[T.Ramp(T.int64(0), T.int64(1), 16)] + x_1[T.Ramp(o * T.int64(16) + n * k, T.int64(1), 16)]
                y_1[o * T.int64(16):o * T.int64(16) + T.int64(16)] = sums[T.Ramp(T.int64(0), T.int64(1), 16)]
            else:
                for k in range(T.int64(100)):
                    sums[T.int64(0):T.int64(16)] = sums[T.Ramp(T.int64(0), T.int64(1), 16)] + T.if_then_else(T.Ramp(o * T.int64(16), T.int64(1), 16) < T.Broadcast(n, 16), x_1[T.Ramp(o * T.int64(16) + n * k, T.int64(1), 16)], T.Broadcast(T.float32(0.0), 16))
                if T.Ramp(o * T.int64(16), T.int64(1), 16) < T.Broadcast(n, 16):
                    y_1[o * T.int64(16):o * T.int64(16) + T.int64(16)] = sums[T.Ramp(T.int64(0), T.int64(1), 16)]
