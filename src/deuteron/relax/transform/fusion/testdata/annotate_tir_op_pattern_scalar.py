# run: AnnotateTIROpPattern
# A slice begins where the run says, in a kernel's argument or a dimension: injective all the same.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def row(A: T.Buffer((T.int64(50), T.int64(8)), "float32"), B: T.Buffer((T.int64(1), T.int64(8)), "float32"), i: T.int64):
        for ax0, ax1 in T.grid(T.int64(1), T.int64(8)):
            with T.sblock("slice"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                B[v0, v1] = A[v0 + T.min(i, T.int64(49)), v1]

    @T.prim_func(private=True, s_tir=True)
    def last(a: T.handle, B: T.Buffer((T.int64(1),), "float32")):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        for ax0 in range(T.int64(1)):
            with T.sblock("slice"):
                v0 = T.axis.spatial(T.int64(1), ax0)
                B[v0] = A[v0 + n - T.int64(1)]

    @T.prim_func(private=True, s_tir=True)
    def told_by_memory(A: T.Buffer((T.int64(50),), "float32"), I: T.Buffer((T.int64(1),), "int64"), B: T.Buffer((T.int64(1),), "float32")):
        for ax0 in range(T.int64(1)):
            with T.sblock("take"):
                v0 = T.axis.spatial(T.int64(1), ax0)
                B[v0] = A[I[v0]]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def last(A: T.Buffer((n,), "float32"), B: T.Buffer((T.int64(1),), "float32")):
        T.func_attr({"op_pattern": 2})
        # with T.sblock("root"):
        for ax0 in range(T.int64(1)):
            with T.sblock("slice"):
                v0 = T.axis.spatial(T.int64(1), ax0)
                T.reads(A[v0 + n - T.int64(1)])
                T.writes(B[v0])
                B[v0] = A[v0 + n - T.int64(1)]

    @T.prim_func(private=True, s_tir=True)
    def row(A: T.Buffer((T.int64(50), T.int64(8)), "float32"), B: T.Buffer((T.int64(1), T.int64(8)), "float32"), i: T.int64):
        T.func_attr({"op_pattern": 2})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(1), T.int64(8)):
            with T.sblock("slice"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(A[v0 + T.min(i, T.int64(49)), v1])
                T.writes(B[v0, v1])
                B[v0, v1] = A[v0 + T.min(i, T.int64(49)), v1]

    @T.prim_func(private=True, s_tir=True)
    def told_by_memory(A: T.Buffer((T.int64(50),), "float32"), I_: T.Buffer((T.int64(1),), "int64"), B: T.Buffer((T.int64(1),), "float32")):
        T.func_attr({"op_pattern": 8})
        # with T.sblock("root"):
        for ax0 in range(T.int64(1)):
            with T.sblock("take"):
                v0 = T.axis.spatial(T.int64(1), ax0)
                T.reads(A[T.int64(0):T.int64(50)], I_[v0])
                T.writes(B[v0])
                B[v0] = A[I_[v0]]
