# run:
# Several symbols in one line; promises about where a buffer begins.
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(a: T.handle, b: T.handle):
        m, n = T.int32(), T.int32()
        offset = T.int32()
        A = T.match_buffer(a, (m, n), "float32", elem_offset=T.int64(0), offset_factor=4)
        B = T.match_buffer(b, (m, n), "float32", elem_offset=offset)
        for i, j in T.grid(m, n):
            with T.sblock("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)

    @T.prim_func(private=True)
    def named_before(A: T.Buffer(("m", "n"), "float32"), B: T.Buffer((m, n), "float32")):
        T.func_attr({"tirx.noalias": True})
        m, n = T.int32(), T.int64()  # as TVM prints them
        for i, j in T.grid(m, n):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n_1 = TypeVar("n_1")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(A: T.Buffer(("m", "n"), "float32", elem_offset=0, offset_factor=4), B: T.Buffer((m, n), "float32", offset_factor=1)):
        m = T.int32()
        n = T.int32()
        # with T.sblock("root"):
        for i, j in T.grid(m, n):
            with T.sblock("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] + T.float32(1.0)

    @T.prim_func(private=True, s_tir=True)
    def named_before(A: T.Buffer(("m", n_1), "float32"), B: T.Buffer((m, n_1), "float32")):
        m = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i, j in T.grid(m, n_1):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj]
