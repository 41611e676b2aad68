# run: LowerKernels
# A window leaves out what lies beyond the image: a line of it at once, and columns one by one.
# target: llvm -mcpu=x86-64-v3
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def windows(x: T.Buffer((6, 6, 8), "float32"), w: T.Buffer((3, 3, 8), "float32"), y: T.Buffer((6, 6, 8), "float32")):
        for i, j in T.grid(6, 6):
            for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
                for dj in T.unroll(3):
                    for c in T.vectorized(8):
                        with T.sblock("sum"):
                            vi, vj, vdi, vdj, vc = T.axis.remap("SSRRS", [i, j, di, dj, c])
                            with T.init():
                                y[vi, vj, vc] = T.float32(0)
                            y[vi, vj, vc] = y[vi, vj, vc] + T.if_then_else(1 <= vi + vdi and vi + vdi < 7 and 1 <= vj + vdj and vj + vdj < 7, x[vi + vdi - 1, vj + vdj - 1, vc], T.float32(0)) * w[vdi, vdj, vc]

    @T.prim_func(s_tir=True)
    def maxima(x: T.Buffer((6, 8), "float32"), y: T.Buffer((6, 8), "float32")):
        for i in range(6):
            for di in range(3):
                for c in T.vectorized(8):
                    with T.sblock("max"):
                        vi, vdi, vc = T.axis.remap("SRS", [i, di, c])
                        with T.init():
                            y[vi, vc] = T.min_value("float32")
                        y[vi, vc] = T.max(y[vi, vc], T.if_then_else(1 <= vi + vdi and vi + vdi < 7, x[vi + vdi - 1, vc], T.float32("-inf")))

    @T.prim_func(s_tir=True)
    def lanes(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        for d in range(3):
            for c in T.vectorized(8):
                with T.sblock("sum"):
                    vd, vc = T.axis.remap("RS", [d, c])
                    with T.init():
                        y[vc] = T.float32(0)
                    y[vc] = y[vc] + T.if_then_else(1 <= vc + vd and vc + vd < 9, x[vc + vd - 1], T.float32(0))
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def dt_lanes(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        T.func_attr({"global_symbol": "lanes"})
        x_1 = T.decl_buffer((T.int64(8),), data=x.data)
        y_1 = T.decl_buffer((T.int64(8),), data=y.data)
        y_1[T.int64(0):T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
        y_1[T.int64(0):T.int64(8)] = y_1[T.Ramp(T.int64(0), T.int64(1), 8)] + T.if_then_else(T.Broadcast(0, 8) < T.Ramp(0, 1, 8), x_1[T.Ramp(T.int64(-1), T.int64(1), 8)], T.Broadcast(T.float32(0.0), 8))
        y_1[T.int64(0):T.int64(8)] = y_1[T.Ramp(T.int64(0), T.int64(1), 8)] + x_1[T.Ramp(T.int64(0), T.int64(1), 8)]
        y_1[T.int64(0):T.int64(8)] = y_1[T.Ramp(T.int64(0), T.int64(1), 8)] + T.if_then_else(T.Ramp(0, 1, 8) < T.Broadcast(7, 8), x_1[T.Ramp(T.int64(1), T.int64(1), 8)], T.Broadcast(T.float32(0.0), 8))

    @T.prim_func
    def dt_maxima(x: T.Buffer((6, 8), "float32"), y: T.Buffer((6, 8), "float32")):
        T.func_attr({"global_symbol": "maxima"})
        x_1 = T.decl_buffer((T.int64(48),), data=x.data)
        y_1 = T.decl_buffer((T.int64(48),), data=y.data)
        y_1[T.int64(0):T.int64(8)] = T.Broadcast(T.min_value("float32"), 8)
        for di in range(3):
            if 0 < di:
                y_1[T.int64(0):T.int64(8)] = T.max(y_1[T.Ramp(T.int64(0), T.int64(1), 8)], x_1[T.Ramp(T.Cast("int64", di - 1) * T.int64(8), T.int64(1), 8)])
        for i in range(1, 5):
            y_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = T.Broadcast(T.min_value("float32"), 8)
            for di in range(3):
                y_1[T.Cast("int64", i) * T.int64(8):T.Cast("int64", i) * T.int64(8) + T.int64(8)] = T.max(y_1[T.Ramp(T.Cast("int64", i) * T.int64(8), T.int64(1), 8)], x_1[T.Ramp(T.Cast("int64", i + di - 1) * T.int64(8), T.int64(1), 8)])
        y_1[T.int64(40):T.int64(48)] = T.Broadcast(T.min_value("float32"), 8)
        for di in range(3):
            if di < 2:
                y_1[T.int64(40):T.int64(48)] = T.max(y_1[T.Ramp(T.int64(40), T.int64(1), 8)], x_1[T.Ramp(T.Cast("int64", di + 4) * T.int64(8), T.int64(1), 8)])

    @T.prim_func
    def dt_windows(x: T.Buffer((6, 6, 8), "float32"), w: T.Buffer((3, 3, 8), "float32"), y: T.Buffer((6, 6, 8), "float32")):
        T.func_attr({"global_symbol": "windows"})
        x_1 = T.decl_buffer((T.int64(288),), data=x.data)
        w_1 = T.decl_buffer((T.int64(72),), data=w.data)
        y_1 = T.decl_buffer((T.int64(288),), data=y.data)
        y_1[T.int64(0):T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
        for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
            if 0 < di:
                for dj in T.unroll(3):
                    if 0 < dj:
                        y_1[T.int64(0):T.int64(8)] = y_1[T.Ramp(T.int64(0), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", di - 1) * T.int64(48) + T.Cast("int64", dj - 1) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
        for j in range(1, 5):
            y_1[T.Cast("int64", j) * T.int64(8):T.Cast("int64", j) * T.int64(8) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
                if 0 < di:
                    for dj in T.unroll(3):
                        y_1[T.Cast("int64", j) * T.int64(8):T.Cast("int64", j) * T.int64(8) + T.int64(8)] = y_1[T.Ramp(T.Cast("int64", j) * T.int64(8), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", di - 1) * T.int64(48) + T.Cast("int64", j + dj - 1) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
        y_1[T.int64(40):T.int64(48)] = T.Broadcast(T.float32(0.0), 8)
        for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
            if 0 < di:
                for dj in T.unroll(3):
                    if dj < 2:
                        y_1[T.int64(40):T.int64(48)] = y_1[T.Ramp(T.int64(40), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", di - 1) * T.int64(48) + T.Cast("int64", dj + 4) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
        for i in range(1, 5):
            y_1[T.Cast("int64", i) * T.int64(48):T.Cast("int64", i) * T.int64(48) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
                for dj in T.unroll(3):
                    if 0 < dj:
                        y_1[T.Cast("int64", i) * T.int64(48):T.Cast("int64", i) * T.int64(48) + T.int64(8)] = y_1[T.Ramp(T.Cast("int64", i) * T.int64(48), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", i + di - 1) * T.int64(48) + T.Cast("int64", dj - 1) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
            for j in range(1, 5):
                y_1[T.Cast("int64", i) * T.int64(48) + T.Cast("int64", j) * T.int64(8):T.Cast("int64", i) * T.int64(48) + T.Cast("int64", j) * T.int64(8) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
                for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
                    for dj in T.unroll(3):
                        y_1[T.Cast("int64", i) * T.int64(48) + T.Cast("int64", j) * T.int64(8):T.Cast("int64", i) * T.int64(48) + T.Cast("int64", j) * T.int64(8) + T.int64(8)] = y_1[T.Ramp(T.Cast("int64", i) * T.int64(48) + T.Cast("int64", j) * T.int64(8), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", i + di - 1) * T.int64(48) + T.Cast("int64", j + dj - 1) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
            y_1[T.Cast("int64", i) * T.int64(48) + T.int64(40):T.Cast("int64", i) * T.int64(48) + T.int64(40) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
                for dj in T.unroll(3):
                    if dj < 2:
                        y_1[T.Cast("int64", i) * T.int64(48) + T.int64(40):T.Cast("int64", i) * T.int64(48) + T.int64(40) + T.int64(8)] = y_1[T.Ramp(T.Cast("int64", i) * T.int64(48) + T.int64(40), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", i + di - 1) * T.int64(48) + T.Cast("int64", dj + 4) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
        y_1[T.int64(240):T.int64(248)] = T.Broadcast(T.float32(0.0), 8)
        for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
            if di < 2:
                for dj in T.unroll(3):
                    if 0 < dj:
                        y_1[T.int64(240):T.int64(248)] = y_1[T.Ramp(T.int64(240), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", di + 4) * T.int64(48) + T.Cast("int64", dj - 1) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
        for j in range(1, 5):
            y_1[T.Cast("int64", j) * T.int64(8) + T.int64(240):T.Cast("int64", j) * T.int64(8) + T.int64(240) + T.int64(8)] = T.Broadcast(T.float32(0.0), 8)
            for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
                if di < 2:
                    for dj in T.unroll(3):
                        y_1[T.Cast("int64", j) * T.int64(8) + T.int64(240):T.Cast("int64", j) * T.int64(8) + T.int64(240) + T.int64(8)] = y_1[T.Ramp(T.Cast("int64", j) * T.int64(8) + T.int64(240), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", di + 4) * T.int64(48) + T.Cast("int64", j + dj - 1) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
        y_1[T.int64(280):T.int64(288)] = T.Broadcast(T.float32(0.0), 8)
        for di in T.serial(3, annotations={"pragma_no_unroll": 1}):
            if di < 2:
                for dj in T.unroll(3):
                    if dj < 2:
                        y_1[T.int64(280):T.int64(288)] = y_1[T.Ramp(T.int64(280), T.int64(1), 8)] + x_1[T.Ramp(T.Cast("int64", di + 4) * T.int64(48) + T.Cast("int64", dj + 4) * T.int64(8), T.int64(1), 8)] * w_1[T.Ramp(T.Cast("int64", di) * T.int64(24) + T.Cast("int64", dj) * T.int64(8), T.int64(1), 8)]
