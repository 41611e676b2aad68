# run: LowerKernels
# target: llvm -mcpu=x86-64-v3 -threads=2
# Tiles of which one sticks out, dealt out to threads: each tile chooses between two copies, where a choice of each
# chunk would need three. What is not inside is the last tile, whose rows are known: of `last`, as no other follows, of
# `missing`, as what follows is left out.
@I.ir_module
class Module:
    @T.prim_func
    def last(x: T.Buffer((49, 96), "float32"), w: T.Buffer((96, 8), "float32"), y: T.Buffer((49, 8), "float32")):
        for c in T.parallel(2):
            for t in range(2):
                s = T.alloc_buffer((14, 8), "float32", scope="local")
                for k in range(96):
                    for i in T.unroll(14):
                        if c * 28 + t * 14 + i < 49:
                            for j in T.vectorized(8):
                                s[i, j] = s[i, j] + x[c * 28 + t * 14 + i, k] * w[k, j]
                for i in T.unroll(14):
                    if c * 28 + t * 14 + i < 49:
                        for j in T.vectorized(8):
                            y[c * 28 + t * 14 + i, j] = s[i, j]

    @T.prim_func
    def missing(x: T.Buffer((65, 96), "float32"), w: T.Buffer((96, 8), "float32"), y: T.Buffer((65, 8), "float32")):
        for c in T.parallel(2):
            for t in range(3):
                s = T.alloc_buffer((14, 8), "float32", scope="local")
                for k in range(96):
                    for i in T.unroll(14):
                        if c * 42 + t * 14 + i < 65:
                            for j in T.vectorized(8):
                                s[i, j] = s[i, j] + x[c * 42 + t * 14 + i, k] * w[k, j]
                for i in T.unroll(14):
                    if c * 42 + t * 14 + i < 65:
                        for j in T.vectorized(8):
                            y[c * 42 + t * 14 + i, j] = s[i, j]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def dt_last(x: T.Buffer((49, 96), "float32"), w: T.Buffer((96, 8), "float32"), y: T.Buffer((49, 8), "float32")):
        T.func_attr({"global_symbol": "last"})
        x_1 = T.decl_buffer((T.int64(4704),), data=x.data)
        w_1 = T.decl_buffer((T.int64(768),), data=w.data)
        y_1 = T.decl_buffer((T.int64(392),), data=y.data)
        for c in T.parallel(2):
            for t in range(2):
                s = T.alloc_buffer((T.int64(112),), scope="local")
                if c * 2 + t <= 2:
                    for k in range(96):
                        for i in T.unroll(14):
                            s[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = s[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] + T.Broadcast(x_1[T.Cast("int64", c * 28 + t * 14 + i) * T.int64(96) + T.Cast("int64", k)], 8) * w_1[T.Ramp(T.Cast("int64", k) * T.int64(8), T.int64(1), 8)]
                    for i in T.unroll(14):
                        y_1[T.Cast("int64", c * 28 + t * 14 + i) * T.int64(8):T.Cast("int64", c * 28 + t * 14 + i) * T.int64(8) + T.int64(8)] = s[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)]
                else:
                    for k in range(96):
                        for i in T.unroll(14):
                            if i < 7:
                                s[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = s[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] + T.Broadcast(x_1[T.Cast("int64", c * 28 + t * 14 + i) * T.int64(96) + T.Cast("int64", k)], 8) * w_1[T.Ramp(T.Cast("int64", k) * T.int64(8), T.int64(1), 8)]
                    for i in T.unroll(14):
                        if i < 7:
                            y_1[T.Cast("int64", c * 28 + t * 14 + i) * T.int64(8):T.Cast("int64", c * 28 + t * 14 + i) * T.int64(8) + T.int64(8)] = s[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)]

    @T.prim_func
    def dt_missing(x: T.Buffer((65, 96), "float32"), w: T.Buffer((96, 8), "float32"), y: T.Buffer((65, 8), "float32")):
        T.func_attr({"global_symbol": "missing"})
        x_1 = T.decl_buffer((T.int64(6240),), data=x.data)
        w_1 = T.decl_buffer((T.int64(768),), data=w.data)
        y_1 = T.decl_buffer((T.int64(520),), data=y.data)
        for c in T.parallel(2):
            for t in range(3):
                s = T.alloc_buffer((T.int64(112),), scope="local")
                if c * 3 + t <= 3:
                    for k in range(96):
                        for i in T.unroll(14):
                            s[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = s[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] + T.Broadcast(x_1[T.Cast("int64", c * 42 + t * 14 + i) * T.int64(96) + T.Cast("int64", k)], 8) * w_1[T.Ramp(T.Cast("int64", k) * T.int64(8), T.int64(1), 8)]
                    for i in T.unroll(14):
                        y_1[T.Cast("int64", c * 42 + t * 14 + i) * T.int64(8):T.Cast("int64", c * 42 + t * 14 + i) * T.int64(8) + T.int64(8)] = s[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)]
                else:
                    if c * 3 + t <= 4:
                        for k in range(96):
                            for i in T.unroll(14):
                                if i < 9:
                                    s[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = s[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] + T.Broadcast(x_1[T.Cast("int64", c * 42 + t * 14 + i) * T.int64(96) + T.Cast("int64", k)], 8) * w_1[T.Ramp(T.Cast("int64", k) * T.int64(8), T.int64(1), 8)]
                        for i in T.unroll(14):
                            if i < 9:
                                y_1[T.Cast("int64", c * 42 + t * 14 + i) * T.int64(8):T.Cast("int64", c * 42 + t * 14 + i) * T.int64(8) + T.int64(8)] = s[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)]
