# run: LowerKernels
# The last tile has rows beyond the end: their sums are set and added up as the others are, while what reads memory is
# left out for them; a tile of which no row exists is left out as a whole.
# target: llvm -mcpu=x86-64-v4 -threads=2
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def products(x: T.Buffer((n, T.int64(64)), "float32"), w: T.Buffer((T.int64(64), T.int64(16)), "float32"), y: T.Buffer((n, T.int64(16)), "float32")):
        for o in T.parallel((n + T.int64(7)) // T.int64(8)):
            for t in range(T.int64(2)):
                sums = T.alloc_buffer((T.int64(4), T.int64(16)), scope="local")
                for r in T.unroll(T.int64(4)):
                    for i in T.vectorized(T.int64(16)):
                        if o * T.int64(8) + t * T.int64(4) + r < n:
                            sums[r, i] = T.float32(0)
                for k in range(T.int64(64)):
                    for r in T.unroll(T.int64(4)):
                        for i in T.vectorized(T.int64(16)):
                            if o * T.int64(8) + t * T.int64(4) + r < n:
                                sums[r, i] = sums[r, i] + x[o * T.int64(8) + t * T.int64(4) + r, k] * w[k, i]
                for r in T.unroll(T.int64(4)):
                    for i in T.vectorized(T.int64(16)):
                        if o * T.int64(8) + t * T.int64(4) + r < n:
                            y[o * T.int64(8) + t * T.int64(4) + r, i] = sums[r, i]
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
    def dt_products(x: T.Buffer((n, T.int64(64)), "float32"), w: T.Buffer((T.int64(64), T.int64(16)), "float32"), y: T.Buffer((n, T.int64(16)), "float32")):
        x_1 = T.decl_buffer((n * T.int64(64),), data=x.data)
        w_1 = T.decl_buffer((T.int64(1024),), data=w.data)
        y_1 = T.decl_buffer((n * T.int64(16),), data=y.data)
        for o in T.parallel((n + T.int64(7)) // T.int64(8)):
            for t in range(T.int64(2)):
                sums = T.alloc_buffer((T.int64(64),), scope="local")
                if o * T.int64(8) + t * T.int64(4) + T.int64(4) <= n:
                    for r in T.unroll(T.int64(4)):
                        sums[r * T.int64(16):r * T.int64(16) + T.int64(16)] = T.Broadcast(T.float32(0.0), 16)
                    for k in range(T.int64(64)):
                        for r in T.unroll(T.int64(4)):
                            sums[r * T.int64(16):r * T.int64(16) + T.int64(16)] = sums[T.Ramp(r * T.int64(16), T.int64(1), 16)] + T.Broadcast(x_1[o * T.int64(512) + t * T.int64(256) + k + r * T.int64(64)], 16) * w_1[T.Ramp(k * T.int64(16), T.int64(1), 16)]
                    for r in T.unroll(T.int64(4)):
                        y_1[o * T.int64(128) + t * T.int64(64) + r * T.int64(16):o * T.int64(128) + t * T.int64(64) + r * T.int64(16) + T.int64(16)] = sums[T.Ramp(r * T.int64(16), T.int64(1), 16)]
                else:
                    if o * T.int64(8) + t * T.int64(4) < n:
                        if o * T.int64(8) + t * T.int64(4) + T.int64(1) == n:
                            for r in T.unroll(T.int64(4)):
                                sums[r * T.int64(16):r * T.int64(16) + T.int64(16)] = T.Broadcast(T.float32(0.0), 16)
                            for k in range(T.int64(64)):
                                for r in T.unroll(T.int64(4)):
                                    if r < T.int64(1):
                                        sums[r * T.int64(16):r * T.int64(16) + T.int64(16)] = sums[T.Ramp(r * T.int64(16), T.int64(1), 16)] + T.Broadcast(x_1[o * T.int64(512) + t * T.int64(256) + k + r * T.int64(64)], 16) * w_1[T.Ramp(k * T.int64(16), T.int64(1), 16)]
                            for r in T.unroll(T.int64(4)):
                                if r < T.int64(1):
                                    y_1[o * T.int64(128) + t * T.int64(64) + r * T.int64(16):o * T.int64(128) + t * T.int64(64) + r * T.int64(16) + T.int64(16)] = sums[T.Ramp(r * T.int64(16), T.int64(1), 16)]
                        else:
                            for r in T.unroll(T.int64(4)):
                                sums[r * T.int64(16):r * T.int64(16) + T.int64(16)] = T.Broadcast(T.float32(0.0), 16)
                            for k in range(T.int64(64)):
                                for r in T.unroll(T.int64(4)):
                                    if o * T.int64(8) + t * T.int64(4) + r < n:
                                        sums[r * T.int64(16):r * T.int64(16) + T.int64(16)] = sums[T.Ramp(r * T.int64(16), T.int64(1), 16)] + T.Broadcast(x_1[o * T.int64(512) + t * T.int64(256) + k + r * T.int64(64)], 16) * w_1[T.Ramp(k * T.int64(16), T.int64(1), 16)]
                            for r in T.unroll(T.int64(4)):
                                if o * T.int64(8) + t * T.int64(4) + r < n:
                                    y_1[o * T.int64(128) + t * T.int64(64) + r * T.int64(16):o * T.int64(128) + t * T.int64(64) + r * T.int64(16) + T.int64(16)] = sums[T.Ramp(r * T.int64(16), T.int64(1), 16)]
