# run: ResolveViews
# Accesses by views become those of the buffers whose data they are; arguments begin at their pointers.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def views(a: T.handle, B: T.Buffer((4, 4), "float32")):
        off = T.int32()
        A = T.match_buffer(a, (16,), "float32", elem_offset=off)
        t = T.sblock_alloc_buffer((8,))
        half = T.decl_buffer((2, 2), data=t.data, elem_offset=4)
        C = T.decl_buffer((4,), data=A.data, elem_offset=8)
        D = T.decl_buffer((4, 2), data=B.data, strides=(4, 1), elem_offset=2)
        bits = T.decl_buffer((16,), "int32", data=A.data)
        for i, j in T.grid(2, 2):
            with T.sblock("written"):
                vi, vj = T.axis.remap("SS", [i, j])
                half[vi, vj] = C[vi * 2 + vj] + T.Cast("float32", off)
        for i, j in T.grid(4, 2):
            with T.sblock("read"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = half[vi // 2, vj] + T.Cast("float32", bits[vi])

    @T.prim_func(private=True, s_tir=True)
    def checked(A: T.Buffer(("n",), "float32", elem_offset="n"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("copy"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]
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
    def checked(A: T.Buffer((n,), "float32"), B: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        assert n == T.int64(0), ("RuntimeError", ["argument A begins at its pointer, its elem_offset is 0 and not n"])
        for i in range(4):
            with T.sblock("copy"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi]

    @T.prim_func(private=True, s_tir=True)
    def views(A: T.Buffer((16,), "float32"), B: T.Buffer((4, 4), "float32")):
        bits = T.decl_buffer((16,), "int32", data=A.data)
        # with T.sblock("root"):
        t = T.sblock_alloc_buffer((8,))
        for i, j in T.grid(2, 2):
            with T.sblock("written"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[T.Cast("int64", vi * 2 + vj) + T.int64(8)])
                T.writes(t[T.Cast("int64", vj) + T.Cast("int64", vi) * T.int64(2) + T.int64(4)])
                t[T.Cast("int64", vj) + T.Cast("int64", vi) * T.int64(2) + T.int64(4)] = T.Add(A[T.Cast("int64", vi * 2 + vj) + T.int64(8)], T.float32(0.0))
        for i, j in T.grid(4, 2):
            with T.sblock("read"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(t[T.Cast("int64", vj) + T.Cast("int64", vi // 2) * T.int64(2) + T.int64(4)], bits[vi])
                T.writes(B[T.Cast("int64", vi), T.Cast("int64", vj) + T.int64(2)])
                B[T.Cast("int64", vi), T.Cast("int64", vj) + T.int64(2)] = t[T.Cast("int64", vj) + T.Cast("int64", vi // 2) * T.int64(2) + T.int64(4)] + T.Cast("float32", bits[vi])
