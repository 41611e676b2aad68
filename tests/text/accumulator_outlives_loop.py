# run: LowerKernels
# What a loop adds to, step by step, is allocated outside of it, though nothing else uses it there.
# target: llvm -mcpu=x86-64-v3
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def running(a: T.Buffer((4, 16), "float32"), b: T.Buffer((4, 16), "float32")):
        c = T.sblock_alloc_buffer((4,), "float32")
        for i in range(4):
            for k in range(16):
                with T.sblock("sum"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        c[vi] = T.float32(0)
                    c[vi] = c[vi] + a[vi, vk]
                with T.sblock("out"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    b[vi, vk] = c[vi]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def dt_running(a: T.Buffer((4, 16), "float32"), b: T.Buffer((4, 16), "float32")):
        T.func_attr({"global_symbol": "running"})
        a_1 = T.decl_buffer((T.int64(64),), data=a.data)
        b_1 = T.decl_buffer((T.int64(64),), data=b.data)
        for i in range(4):
            c = T.alloc_buffer((T.int64(1),))
            for k in range(16):
                if k == 0:
                    c[T.int64(0)] = T.float32(0.0)
                c[T.int64(0)] = c[T.int64(0)] + a_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", k)]
                b_1[T.Cast("int64", i) * T.int64(16) + T.Cast("int64", k)] = c[T.int64(0)]
