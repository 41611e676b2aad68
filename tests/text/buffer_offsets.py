# run:
# Where buffers begin: parameters, views of others, regions; what iterators say is declared where they are known.
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def parameters(a: T.handle, b: T.handle, c: T.handle, d: T.handle, n: T.int32):
        off = T.int32()
        A = T.match_buffer(a, (4,), "float32", elem_offset=off, offset_factor=2)
        B = T.match_buffer(b, (4,), "float32", elem_offset=off)
        C = T.match_buffer(c, (4,), "float32", offset_factor=4)
        D = T.match_buffer(d, (4,), "float32", elem_offset=n * 4, strides=[2])
        for i in range(4):
            with T.sblock("sum"):
                vi = T.axis.spatial(4, i)
                D[vi] = A[vi] + B[vi] + C[vi] + T.Cast("float32", off + C.elem_offset)

    @T.prim_func(private=True)
    def views(A: T.Buffer((16,), "float32", elem_offset=4), B: T.Buffer((2, 4), "float32", elem_offset=A.elem_offset), n: T.int64):
        C = T.decl_buffer((2, 2), data=A.data, elem_offset=8, offset_factor=8)
        D = A.view(4)
        E = T.decl_buffer((4,), data=A.data, elem_offset=n)
        for i, j in T.grid(2, 4):
            with T.sblock("sum"):
                vi, vj = T.axis.remap("SS", [i, j])
                F = T.decl_buffer((4,), data=A.data, elem_offset=vi * 4)
                B[vi, vj] = C[vi, vj // 2] + D[vj] + E[vj] + F[vj]

    @T.prim_func(private=True)
    def regions(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
        for i in range(4):
            with T.sblock("rows"):
                vi = T.axis.spatial(4, i)
                begin = T.int32()
                C = T.match_buffer(A[vi * 2:vi * 2 + 2, 0:4], (2, 4), elem_offset=begin, offset_factor=8)
                for j, k in T.grid(2, 4):
                    B[vi * 2 + j, k] = C[j, k] + T.Cast("float32", begin)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def parameters(A: T.Buffer((4,), "float32", offset_factor=2), B: T.Buffer((4,), "float32", elem_offset=A.elem_offset), C: T.Buffer((4,), "float32", offset_factor=4), D: T.Buffer((4,), "float32", strides=(2,), elem_offset="n * 4"), n: T.int32):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("sum"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi], B[vi], C[vi])
                T.writes(D[vi])
                D[vi] = A[vi] + B[vi] + C[vi] + T.Cast("float32", A.elem_offset + C.elem_offset)

    @T.prim_func(private=True, s_tir=True)
    def regions(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("rows"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi * 2:vi * 2 + 2, 0:4])
                T.writes(B[vi * 2:vi * 2 + 2, 0:4])
                for j, k in T.grid(2, 4):
                    B[vi * 2 + j, k] = A[vi * 2 + j, k] + T.Cast("float32", vi * 2 * 4)

    @T.prim_func(private=True, s_tir=True)
    def views(A: T.Buffer((16,), "float32", elem_offset=4), B: T.Buffer((2, 4), "float32", elem_offset=4), n: T.int64):
        C = T.decl_buffer((2, 2), data=A.data, elem_offset=8, offset_factor=8)
        D = T.decl_buffer((4,), data=A.data, elem_offset=4)
        E = T.decl_buffer((4,), data=A.data, elem_offset=n)
        # with T.sblock("root"):
        for i, j in T.grid(2, 4):
            with T.sblock("sum"):
                vi, vj = T.axis.remap("SS", [i, j])
                F = T.decl_buffer((4,), data=A.data, elem_offset=vi * 4)
                T.reads(C[vi, vj // 2], D[vj], E[vj], F[vj])
                T.writes(B[vi, vj])
                B[vi, vj] = C[vi, vj // 2] + D[vj] + E[vj] + F[vj]
