# run: ScheduleForCPU
# target: llvm -mcpu=x86-64-v3 -threads=1
# A loop that no iterator of a block names does the same again and again: made one with loops that some name, and cut
# into vectors, its iterations would race. Blocks whose loops are not their iterators are left as they stand, and so are
# rows with such a block.
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def rows(x: T.Buffer((64, 128), "float32"), y: T.Buffer((64, 128), "float32")):
        s = T.alloc_buffer((64,), "float32")
        for i, k in T.grid(64, 128):
            with T.block("sum"):
                vi = T.axis.spatial(64, i)
                vk = T.axis.reduce(128, k)
                with T.init():
                    s[vi] = T.float32(0)
                s[vi] = s[vi] + x[vi, vk]
        for k, i, u in T.grid(128, 64, 3):
            with T.block("div"):
                vi = T.axis.spatial(64, i)
                vk = T.axis.spatial(128, k)
                y[vi, vk] = x[vi, vk] - s[vi]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def rows(x: T.Buffer((64, 128), "float32"), y: T.Buffer((64, 128), "float32")):
        # with T.sblock("root"):
        s = T.sblock_alloc_buffer((64,))
        s_rf = T.sblock_alloc_buffer((8, 64), scope="local")
        for i in T.parallel(64):
            with T.sblock("sum_init"):
                vi = T.axis.spatial(64, i)
                T.reads()
                T.writes(s[vi])
                s[vi] = T.float32(0.0)
            for k_0 in range(8):
                with T.sblock("sum_rf_init"):
                    vi, v_k_0 = T.axis.remap("SS", [i, k_0])
                    T.reads()
                    T.writes(s_rf[v_k_0, vi])
                    s_rf[v_k_0, vi] = T.float32(0.0)
                for k_1 in range(16):
                    with T.sblock("sum_rf"):
                        vi, v_k_0, v_k_1 = T.axis.remap("SSR", [i, k_0, k_1])
                        T.reads(s_rf[v_k_0, vi], x[vi, v_k_0 * 16 + v_k_1])
                        T.writes(s_rf[v_k_0, vi])
                        s_rf[v_k_0, vi] = s_rf[v_k_0, vi] + x[vi, v_k_0 * 16 + v_k_1]
                with T.sblock("sum"):
                    vi, v_k_0 = T.axis.remap("SR", [i, k_0])
                    T.reads(s[vi], s_rf[v_k_0, vi])
                    T.writes(s[vi])
                    s[vi] = s[vi] + s_rf[v_k_0, vi]
        for k, i, u in T.grid(128, 64, 3):
            with T.sblock("div"):
                vi, vk = T.axis.remap("SS", [i, k])
                T.reads(x[vi, vk], s[vi])
                T.writes(y[vi, vk])
                y[vi, vk] = x[vi, vk] - s[vi]
