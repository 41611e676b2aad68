# run: LowerKernels
# target: llvm -mcpu=x86-64-v3 -threads=2
# Conditions of the ends of loops. Of `tail`, the chunk that sticks out has its number in conditions; `rounds`
# stays one loop, though its condition comes and goes with the inner of the two that it was made of; `rows` keeps its
# condition, which stands for many stores; of `stages` and of
# `branches`, one alone is there twice. Of `borders`,
# the copy for the first and the last rows has a loop where the other one has what it unrolls to.
@I.ir_module
class Module:
    @T.prim_func
    def tail(x: T.Buffer((49,), "float32"), y: T.Buffer((49,), "float32")):
        for i in T.parallel(4):
            for j in T.unroll(14):
                if i * 14 + j < 49:
                    y[i * 14 + j] = x[i * 14 + j]

    @T.prim_func
    def rounds(x: T.Buffer((4, 49), "float32"), y: T.Buffer((4, 49), "float32")):
        for i in range(16):
            for j in T.unroll(14):
                if i % 4 * 14 + j < 49:
                    y[i // 4, i % 4 * 14 + j] = x[i // 4, i % 4 * 14 + j]

    @T.prim_func
    def rows(x: T.Buffer((8, 32), "float32"), y: T.Buffer((8, 32), "float32")):
        for i in T.parallel(8):
            for k in range(3):
                if 1 <= i + k and i + k < 9:
                    for j in T.unroll(32):
                        y[i, j] = y[i, j] + x[i + k - 1, j]

    @T.prim_func
    def stages(x: T.Buffer((49,), "float32"), y: T.Buffer((49,), "float32"), z: T.Buffer((4, 64), "float32")):
        for i in T.parallel(4):
            for j in range(64):
                z[i, j] = T.float32(1)
            for j in range(14):
                if i * 14 + j < 49:
                    y[i * 14 + j] = x[i * 14 + j]
            for j in range(64):
                z[i, j] = z[i, j] + T.float32(1)

    @T.prim_func
    def branches(x: T.Buffer((49,), "float32"), y: T.Buffer((49,), "float32"), z: T.Buffer((4, 64), "float32")):
        for i in T.parallel(4):
            if z[i, 0] < T.float32(0):
                for j in range(14):
                    if i * 14 + j < 49:
                        y[i * 14 + j] = x[i * 14 + j]
            else:
                z[i, 1] = T.float32(1)
                z[i, 2] = T.float32(1)

    @T.prim_func
    def borders(x: T.Buffer((16, 8), "float32"), y: T.Buffer((16, 8), "float32")):
        for i in T.parallel(8):
            for k in T.unroll(3):
                for j in T.unroll(2):
                    if 1 <= i * 2 + j + k and i * 2 + j + k < 17:
                        y[i * 2 + j, 0] = y[i * 2 + j, 0] + x[i * 2 + j + k - 1, 0]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def dt_borders(x: T.Buffer((16, 8), "float32"), y: T.Buffer((16, 8), "float32")):
        T.func_attr({"global_symbol": "borders"})
        x_1 = T.decl_buffer((T.int64(128),), data=x.data)
        y_1 = T.decl_buffer((T.int64(128),), data=y.data)
        for i in T.parallel(8):
            if 0 < i and i <= 6:
                for k in T.unroll(3):
                    for j in T.unroll(2):
                        y_1[T.Cast("int64", i * 2 + j) * T.int64(8)] = y_1[T.Cast("int64", i * 2 + j) * T.int64(8)] + x_1[T.Cast("int64", i * 2 + k + j - 1) * T.int64(8)]
            else:
                for k in T.serial(3, annotations={"pragma_no_unroll": 1}):
                    if 0 < i * 2 + k and i * 2 + k <= 15:
                        for j in T.unroll(2):
                            y_1[T.Cast("int64", i * 2 + j) * T.int64(8)] = y_1[T.Cast("int64", i * 2 + j) * T.int64(8)] + x_1[T.Cast("int64", i * 2 + k + j - 1) * T.int64(8)]
                    else:
                        for j in T.unroll(2):
                            if 0 < i * 2 + k + j and i * 2 + k + j < 17:
                                y_1[T.Cast("int64", i * 2 + j) * T.int64(8)] = y_1[T.Cast("int64", i * 2 + j) * T.int64(8)] + x_1[T.Cast("int64", i * 2 + k + j - 1) * T.int64(8)]

    @T.prim_func
    def dt_branches(x: T.Buffer((49,), "float32"), y: T.Buffer((49,), "float32"), z: T.Buffer((4, 64), "float32")):
        T.func_attr({"global_symbol": "branches"})
        x_1 = T.decl_buffer((T.int64(49),), data=x.data)
        y_1 = T.decl_buffer((T.int64(49),), data=y.data)
        z_1 = T.decl_buffer((T.int64(256),), data=z.data)
        for i in T.parallel(4):
            if z_1[T.Cast("int64", i) * T.int64(64)] < T.float32(0.0):
                if i <= 2:
                    for j in range(14):
                        y_1[T.Cast("int64", i * 14 + j)] = x_1[T.Cast("int64", i * 14 + j)]
                else:
                    for j in range(7):
                        y_1[T.Cast("int64", i * 14 + j)] = x_1[T.Cast("int64", i * 14 + j)]
            else:
                z_1[T.Cast("int64", i) * T.int64(64) + T.int64(1)] = T.float32(1.0)
                z_1[T.Cast("int64", i) * T.int64(64) + T.int64(2)] = T.float32(1.0)

    @T.prim_func
    def dt_rounds(x: T.Buffer((4, 49), "float32"), y: T.Buffer((4, 49), "float32")):
        T.func_attr({"global_symbol": "rounds"})
        x_1 = T.decl_buffer((T.int64(196),), data=x.data)
        y_1 = T.decl_buffer((T.int64(196),), data=y.data)
        for i in range(16):
            if i % 4 <= 2:
                for j in T.unroll(14):
                    y_1[T.Cast("int64", i // 4) * T.int64(49) + T.Cast("int64", i % 4 * 14 + j)] = x_1[T.Cast("int64", i // 4) * T.int64(49) + T.Cast("int64", i % 4 * 14 + j)]
            else:
                for j in T.serial(7, annotations={"pragma_no_unroll": 1}):
                    y_1[T.Cast("int64", i // 4) * T.int64(49) + T.Cast("int64", i % 4 * 14 + j)] = x_1[T.Cast("int64", i // 4) * T.int64(49) + T.Cast("int64", i % 4 * 14 + j)]

    @T.prim_func
    def dt_rows(x: T.Buffer((8, 32), "float32"), y: T.Buffer((8, 32), "float32")):
        T.func_attr({"global_symbol": "rows"})
        x_1 = T.decl_buffer((T.int64(256),), data=x.data)
        y_1 = T.decl_buffer((T.int64(256),), data=y.data)
        for i in T.parallel(8):
            for k in range(3):
                if 0 < i + k and i + k < 9:
                    for j in T.unroll(32):
                        y_1[T.Cast("int64", i) * T.int64(32) + T.Cast("int64", j)] = y_1[T.Cast("int64", i) * T.int64(32) + T.Cast("int64", j)] + x_1[T.Cast("int64", j) + T.Cast("int64", i + k - 1) * T.int64(32)]

    @T.prim_func
    def dt_stages(x: T.Buffer((49,), "float32"), y: T.Buffer((49,), "float32"), z: T.Buffer((4, 64), "float32")):
        T.func_attr({"global_symbol": "stages"})
        x_1 = T.decl_buffer((T.int64(49),), data=x.data)
        y_1 = T.decl_buffer((T.int64(49),), data=y.data)
        z_1 = T.decl_buffer((T.int64(256),), data=z.data)
        for i in T.parallel(4):
            for j in range(64):
                z_1[T.Cast("int64", i) * T.int64(64) + T.Cast("int64", j)] = T.float32(1.0)
            if i <= 2:
                for j in range(14):
                    y_1[T.Cast("int64", i * 14 + j)] = x_1[T.Cast("int64", i * 14 + j)]
            else:
                for j in range(7):
                    y_1[T.Cast("int64", i * 14 + j)] = x_1[T.Cast("int64", i * 14 + j)]
            for j in range(64):
                z_1[T.Cast("int64", i) * T.int64(64) + T.Cast("int64", j)] = z_1[T.Cast("int64", i) * T.int64(64) + T.Cast("int64", j)] + T.float32(1.0)

    @T.prim_func
    def dt_tail(x: T.Buffer((49,), "float32"), y: T.Buffer((49,), "float32")):
        T.func_attr({"global_symbol": "tail"})
        x_1 = T.decl_buffer((T.int64(49),), data=x.data)
        y_1 = T.decl_buffer((T.int64(49),), data=y.data)
        for i in T.parallel(4):
            if i <= 2:
                for j in T.unroll(14):
                    y_1[T.Cast("int64", i * 14 + j)] = x_1[T.Cast("int64", i * 14 + j)]
            else:
                for j in T.unroll(14):
                    if j < 7:
                        y_1[T.Cast("int64", i * 14 + j)] = x_1[T.Cast("int64", i * 14 + j)]
