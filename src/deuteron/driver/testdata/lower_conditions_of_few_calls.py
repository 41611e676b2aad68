# run: LowerKernels
# target: llvm -mcpu=x86-64-v3 -threads=2 -expected-calls=1
# Of one call, a copy without conditions takes longer to compile than it saves: the two ends of `borders` stay in its
# loop. It saves more where they are asked often (`often`), or of the lanes of a vector (`lanes`).
@I.ir_module
class Module:
    @T.prim_func
    def borders(x: T.Buffer((32, 8), "float32"), y: T.Buffer((32, 8), "float32")):
        for i in range(32):
            for j in T.vectorized(8):
                y[i, j] = T.float32(0)
            for k in range(3):
                if 1 <= i + k and i + k < 33:
                    for j in T.vectorized(8):
                        y[i, j] = y[i, j] + x[i + k - 1, j]

    @T.prim_func
    def often(x: T.Buffer((100000, 8), "float32"), y: T.Buffer((100000, 8), "float32")):
        for i in range(100000):
            for j in T.vectorized(8):
                y[i, j] = T.float32(0)
            for k in range(30):
                if 1 <= i + k and i + k < 100001:
                    for j in T.vectorized(8):
                        y[i, j] = y[i, j] + x[i + k - 1, j]

    @T.prim_func
    def lanes(x: T.Buffer((100,), "float32"), y: T.Buffer((100,), "float32")):
        for i in range(13):
            for j in T.vectorized(8):
                if i * 8 + j < 100:
                    y[i * 8 + j] = x[i * 8 + j]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def dt_borders(x: T.Buffer((32, 8), "float32"), y: T.Buffer((32, 8), "float32")):
        T.func_attr({"global_symbol": "borders"})
        x_1 = T.decl_buffer((T.int64(256),), data=x.data)
        y_1 = T.decl_buffer((T.int64(256),), data=y.data)
        for i in range(32):
            y_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for k in range(3):
                if 0 < i + k and i + k < 33:
                    y_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = y_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", i + k - 1) * T.int64(8), T.int64(1), 8)]

    @T.prim_func
    def dt_lanes(x: T.Buffer((100,), "float32"), y: T.Buffer((100,), "float32")):
        T.func_attr({"global_symbol": "lanes"})
        x_1 = T.decl_buffer((T.int64(100),), data=x.data)
        y_1 = T.decl_buffer((T.int64(100),), data=y.data)
        for i in range(12):
            y_1[T.Cast("int64", i * 8):T.Cast("int64", i * 8) + T.int64(8)] = x_1[T.Ramp(T.Cast("int64", i * 8), T.int64(1), 8)]
        if T.Ramp(0, 1, 8) < T.Broadcast(4, 8):
            y_1[T.int64(96):T.int64(104)] = x_1[T.Ramp(T.int64(96), T.int64(1), 8)]

    @T.prim_func
    def dt_often(x: T.Buffer((100000, 8), "float32"), y: T.Buffer((100000, 8), "float32")):
        T.func_attr({"global_symbol": "often"})
        x_1 = T.decl_buffer((T.int64(800000),), data=x.data)
        y_1 = T.decl_buffer((T.int64(800000),), data=y.data)
        y_1[T.int64(0):T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
        for k in range(30):
            if 0 < k:
                y_1[T.int64(0):T.int64(8)] = y_1[T.Ramp(T.int64(0), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", k - 1) * T.int64(8), T.int64(1), 8)]
        for i in range(1, 99972):
            y_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for k in range(30):
                y_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = y_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", i + k - 1) * T.int64(8), T.int64(1), 8)]
        for i in range(99972, 100000):
            y_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for k in range(30):
                if i + k < 100001:
                    y_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = y_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", i + k - 1) * T.int64(8), T.int64(1), 8)]
