# run: LowerKernels
# A buffer that lives in a tile has room for what is written first, and for what lies before and behind it.
# target: llvm -mcpu=x86-64-v3
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def before(a: T.Buffer((64,), "float32"), b: T.Buffer((64,), "float32")):
        c = T.sblock_alloc_buffer((80,), "float32")
        for i in range(8):
            for j in range(8):
                with T.sblock("middle"):
                    v = T.axis.spatial(64, i * 8 + j)
                    c[v + 4] = a[v]
            for j in range(4):
                with T.sblock("edge"):
                    v = T.axis.spatial(68, i * 8 + j)
                    c[v] = T.float32(0)
            for j in range(8):
                with T.sblock("sum"):
                    v = T.axis.spatial(64, i * 8 + j)
                    b[v] = c[v] + c[v + 4]

    @T.prim_func(s_tir=True)
    def behind(a: T.Buffer((64,), "float32"), b: T.Buffer((64,), "float32")):
        c = T.sblock_alloc_buffer((80,), "float32")
        for i in range(8):
            for j in range(8):
                with T.sblock("middle"):
                    v = T.axis.spatial(64, i * 8 + j)
                    c[v] = a[v]
            for j in range(4):
                with T.sblock("edge"):
                    v = T.axis.spatial(68, i * 8 + j)
                    c[v + 8] = T.float32(0)
            for j in range(8):
                with T.sblock("sum"):
                    v = T.axis.spatial(64, i * 8 + j)
                    b[v] = c[v] + c[v + 4]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def dt_before(a: T.Buffer((64,), "float32"), b: T.Buffer((64,), "float32")):
        T.func_attr({"global_symbol": "before"})
        a_1 = T.decl_buffer((T.int64(64),), data=a.data)
        b_1 = T.decl_buffer((T.int64(64),), data=b.data)
        for i in range(8):
            c = T.alloc_buffer((T.int64(12),))
            for j in range(8):
                c[T.Cast("int64", j + 4)] = a_1[T.Cast("int64", i * 8 + j)]
            for j in range(4):
                c[T.Cast("int64", j)] = T.float32(0.0)
            for j in range(8):
                b_1[T.Cast("int64", i * 8 + j)] = c[T.Cast("int64", j)] + c[T.Cast("int64", j + 4)]

    @T.prim_func
    def dt_behind(a: T.Buffer((64,), "float32"), b: T.Buffer((64,), "float32")):
        T.func_attr({"global_symbol": "behind"})
        a_1 = T.decl_buffer((T.int64(64),), data=a.data)
        b_1 = T.decl_buffer((T.int64(64),), data=b.data)
        for i in range(8):
            c = T.alloc_buffer((T.int64(12),))
            for j in range(8):
                c[T.Cast("int64", j)] = a_1[T.Cast("int64", i * 8 + j)]
            for j in range(4):
                c[T.Cast("int64", j + 8)] = T.float32(0.0)
            for j in range(8):
                b_1[T.Cast("int64", i * 8 + j)] = c[T.Cast("int64", j)] + c[T.Cast("int64", j + 4)]
