# run: ScheduleForCPU
# target: llvm -mcpu=x86-64-v3
# expect: changes
# The greatest and the least number of a tensor whose outer length the run tells, and what is computed of these in a
# block with an iterator of its own: partial results in vectors, the outer axis a loop of its own.
from typing import TypeVar

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def extent(x: T.Buffer((n, T.int64(96)), "float32"), y: T.Buffer((), "float32")):
        T.func_attr({"tirx.noalias": True})
        greatest = T.sblock_alloc_buffer(())
        for k0, k1 in T.grid(n, T.int64(96)):
            with T.sblock("greatest"):
                v_k0, v_k1 = T.axis.remap("RR", [k0, k1])
                T.reads(x[v_k0, v_k1])
                T.writes(greatest[()])
                with T.init():
                    greatest[()] = T.float32("-inf")
                greatest[()] = T.max(greatest[()], x[v_k0, v_k1])
        with T.sblock("y"):
            vi = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads(greatest[()])
            T.writes(y[()])
            y[()] = T.max(greatest[()], T.float32(0.0))
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
    def extent(x: T.Buffer((n, T.int64(96)), "float32"), y: T.Buffer((), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        greatest = T.sblock_alloc_buffer(())
        greatest_rf = T.sblock_alloc_buffer((T.int64(32),))
        greatest_rf_1 = T.sblock_alloc_buffer((T.int64(8),))
        greatest_rf_2 = T.sblock_alloc_buffer((T.int64(4),))
        greatest_rf_3 = T.sblock_alloc_buffer((T.int64(2),))
        for k1_1 in T.vectorized(T.int64(32)):
            with T.sblock("greatest_rf_init"):
                v_k1_1 = T.axis.spatial(T.int64(32), k1_1)
                T.reads()
                T.writes(greatest_rf[v_k1_1])
                greatest_rf[v_k1_1] = T.float32("-inf")
        for k0, k1_0 in T.grid(n, T.int64(3)):
            for k1_1 in T.vectorized(T.int64(32)):
                with T.sblock("greatest_rf"):
                    v_k1_1, v_k0, v_k1_0 = T.axis.remap("SRR", [k1_1, k0, k1_0])
                    T.reads(greatest_rf[v_k1_1], x[v_k0, v_k1_1 + v_k1_0 * T.int64(32)])
                    T.writes(greatest_rf[v_k1_1])
                    greatest_rf[v_k1_1] = T.max(greatest_rf[v_k1_1], x[v_k0, v_k1_1 + v_k1_0 * T.int64(32)])
        for k1_1_1 in T.vectorized(T.int64(8)):
            with T.sblock("greatest_rf_1_init"):
                v_k1_1_1 = T.axis.spatial(T.int64(8), k1_1_1)
                T.reads()
                T.writes(greatest_rf_1[v_k1_1_1])
                greatest_rf_1[v_k1_1_1] = T.float32("-inf")
        for k1_1_0 in T.unroll(T.int64(4)):
            for k1_1_1 in T.vectorized(T.int64(8)):
                with T.sblock("greatest_rf_1"):
                    v_k1_1_1, v_k1_1_0 = T.axis.remap("SR", [k1_1_1, k1_1_0])
                    T.reads(greatest_rf_1[v_k1_1_1], greatest_rf[v_k1_1_1 + v_k1_1_0 * T.int64(8)])
                    T.writes(greatest_rf_1[v_k1_1_1])
                    greatest_rf_1[v_k1_1_1] = T.max(greatest_rf_1[v_k1_1_1], greatest_rf[v_k1_1_1 + v_k1_1_0 * T.int64(8)])
        for k1_1_1_1 in T.vectorized(T.int64(4)):
            with T.sblock("greatest_rf_2_init"):
                v_k1_1_1_1 = T.axis.spatial(T.int64(4), k1_1_1_1)
                T.reads()
                T.writes(greatest_rf_2[v_k1_1_1_1])
                greatest_rf_2[v_k1_1_1_1] = T.float32("-inf")
        for k1_1_1_0 in T.unroll(T.int64(2)):
            for k1_1_1_1 in T.vectorized(T.int64(4)):
                with T.sblock("greatest_rf_2"):
                    v_k1_1_1_1, v_k1_1_1_0 = T.axis.remap("SR", [k1_1_1_1, k1_1_1_0])
                    T.reads(greatest_rf_2[v_k1_1_1_1], greatest_rf_1[v_k1_1_1_1 + v_k1_1_1_0 * T.int64(4)])
                    T.writes(greatest_rf_2[v_k1_1_1_1])
                    greatest_rf_2[v_k1_1_1_1] = T.max(greatest_rf_2[v_k1_1_1_1], greatest_rf_1[v_k1_1_1_1 + v_k1_1_1_0 * T.int64(4)])
        for k1_1_1_1_1 in T.vectorized(T.int64(2)):
            with T.sblock("greatest_rf_3_init"):
                v_k1_1_1_1_1 = T.axis.spatial(T.int64(2), k1_1_1_1_1)
                T.reads()
                T.writes(greatest_rf_3[v_k1_1_1_1_1])
                greatest_rf_3[v_k1_1_1_1_1] = T.float32("-inf")
        for k1_1_1_1_0 in T.unroll(T.int64(2)):
            for k1_1_1_1_1 in T.vectorized(T.int64(2)):
                with T.sblock("greatest_rf_3"):
                    v_k1_1_1_1_1, v_k1_1_1_1_0 = T.axis.remap("SR", [k1_1_1_1_1, k1_1_1_1_0])
                    T.reads(greatest_rf_3[v_k1_1_1_1_1], greatest_rf_2[v_k1_1_1_1_1 + v_k1_1_1_1_0 * T.int64(2)])
                    T.writes(greatest_rf_3[v_k1_1_1_1_1])
                    greatest_rf_3[v_k1_1_1_1_1] = T.max(greatest_rf_3[v_k1_1_1_1_1], greatest_rf_2[v_k1_1_1_1_1 + v_k1_1_1_1_0 * T.int64(2)])
        for k1_1_1_1_1 in range(T.int64(2)):
            with T.sblock("greatest"):
                v_k1_1_1_1_1 = T.axis.reduce(T.int64(2), k1_1_1_1_1)
                T.reads(greatest_rf_3[v_k1_1_1_1_1])
                T.writes(greatest[()])
                with T.init():
                    greatest[()] = T.float32("-inf")
                greatest[()] = T.max(greatest[()], greatest_rf_3[v_k1_1_1_1_1])
        with T.sblock("y"):
            vi = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads(greatest[()])
            T.writes(y[()])
            y[()] = T.max(greatest[()], T.float32(0.0))
