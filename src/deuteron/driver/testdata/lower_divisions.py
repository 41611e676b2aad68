# run: LowerKernels
# target: llvm -mcpu=x86-64-v3 -threads=2
# Divisions by what only the run tells are done once a round, whether a branch kept one from a divisor of zero or not;
# what a branch that nothing enters divides by zero stays in it.
@I.ir_module
class Module:
    @T.prim_func
    def columns(x: T.Buffer((64,), "float32"), y: T.Buffer((64, 8), "float32"), n: T.int64):
        for i in range(T.int64(64)):
            for j in range(T.int64(8)):
                if n > T.int64(0):
                    y[i, j] = x[i % n]

    @T.prim_func
    def nothing(x: T.Buffer((64,), "float32"), y: T.Buffer((64, 8), "float32"), n: T.int64):
        for i in range(T.int64(64)):
            for j in range(T.int64(8)):
                if n > T.int64(100):
                    y[i, j] = x[(i % T.int64(0) + j) % n]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def dt_columns(x: T.Buffer((64,), "float32"), y: T.Buffer((64, 8), "float32"), n: T.int64):
        T.func_attr({"global_symbol": "columns"})
        x_1 = T.decl_buffer((T.int64(64),), data=x.data)
        y_1 = T.decl_buffer((T.int64(512),), data=y.data)
        for i in range(T.int64(64)):
            part: T.let[T.int64] = T.truncmod(i, T.Select(n == T.int64(0), T.int64(1), n))
            for j in range(T.int64(8)):
                if T.int64(0) < n:
                    y_1[i * T.int64(8) + j] = x_1[part]

    @T.prim_func
    def dt_nothing(x: T.Buffer((64,), "float32"), y: T.Buffer((64, 8), "float32"), n: T.int64):
        T.func_attr({"global_symbol": "nothing"})
        x_1 = T.decl_buffer((T.int64(64),), data=x.data)
        y_1 = T.decl_buffer((T.int64(512),), data=y.data)
        for i, j in T.grid(T.int64(64), T.int64(8)):
            if T.int64(100) < n:
                y_1[i * T.int64(8) + j] = x_1[(j + i % T.int64(0)) % n]
