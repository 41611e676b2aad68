# run: ScheduleForCPU,LowerKernels
# target: llvm -mcpu=x86-64-v3 -threads=2
# Tiles of which both axes are open. A whole one is transposed in registers. At the ends of lines it is shorter to copy
# as many elements as there are, one after the other: these copies of the tile have loops, and memory of their own.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def transpose(a: T.handle, b: T.handle):
        n = T.int64()
        h = T.int64()
        w = T.int64()
        c = T.int64()
        x = T.match_buffer(a, (n, h, w, c), "float32")
        y = T.match_buffer(b, (n, c, h, w), "float32")
        for i, j, k, l in T.grid(n, c, h, w):
            with T.sblock("t"):
                vi, vj, vk, vl = T.axis.remap("SSSS", [i, j, k, l])
                y[vi, vj, vk, vl] = x[vi, vk, vl, vj]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
h = TypeVar("h")
w = TypeVar("w")
c = TypeVar("c")
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def dt_transpose(x: T.Buffer((n, h, w, c), "float32"), y: T.Buffer((n, c, h, w), "float32")):
        x_1 = T.decl_buffer((n * h * w * c,), data=x.data)
        y_1 = T.decl_buffer((n * c * h * w,), data=y.data)
        for i_k_l_0_fused in T.parallel(n * ((h * w + T.int64(15)) // T.int64(16))):
            part: T.let[T.int64] = i_k_l_0_fused % T.Select((h * w + T.int64(15)) // T.int64(16) == T.int64(0), T.int64(1), (h * w + T.int64(15)) // T.int64(16))
            part_1: T.let[T.int64] = T.Div(i_k_l_0_fused, T.Select((h * w + T.int64(15)) // T.int64(16) == T.int64(0), T.int64(1), (h * w + T.int64(15)) // T.int64(16)))
            part_2: T.let[T.int64] = T.truncmod(i_k_l_0_fused, T.Select((h * w + T.int64(15)) // T.int64(16) == T.int64(0), T.int64(1), (h * w + T.int64(15)) // T.int64(16)))
            part_3: T.let[T.int64] = i_k_l_0_fused // T.Select((h * w + T.int64(15)) // T.int64(16) == T.int64(0), T.int64(1), (h * w + T.int64(15)) // T.int64(16))
            if part * T.int64(16) + T.int64(16) <= h * w:
                for j_0 in range((c + T.int64(15)) // T.int64(16)):
                    if j_0 * T.int64(16) + T.int64(16) <= c:
                        x_cache = T.alloc_buffer((T.int64(256),), scope="local")
                        for ax0 in T.unroll(T.int64(16)):
                            for ax1_0 in T.unroll(T.int64(2)):
                                x_cache[ax0 * T.int64(16) + ax1_0 * T.int64(8):ax0 * T.int64(16) + ax1_0 * T.int64(8) + T.int64(8)] = x_1[T.Ramp(j_0 * T.int64(16) + ax1_0 * T.int64(8) + h * w * c * part_1 + c * part_2 * T.int64(16) + c * ax0, T.int64(1), 8)]
                        for j_1 in T.unroll(T.int64(16)):
                            for k_l_1 in T.unroll(T.int64(2)):
                                y_1[part_2 * T.int64(16) + h * w * c * part_1 + k_l_1 * T.int64(8) + h * w * j_0 * T.int64(16) + h * w * j_1:part_2 * T.int64(16) + h * w * c * part_1 + k_l_1 * T.int64(8) + h * w * j_0 * T.int64(16) + h * w * j_1 + T.int64(8)] = x_cache[T.Ramp(j_1 + k_l_1 * T.int64(128), T.int64(16), 8)]
                    else:
                        x_cache = T.alloc_buffer((T.int64(256),), scope="local")
                        for ax0 in T.serial(T.int64(16), annotations={"pragma_no_unroll": 1}):
                            for ax1_0 in T.serial(T.int64(2), annotations={"pragma_no_unroll": 1}):
                                if j_0 * T.int64(16) + ax1_0 * T.int64(8) + T.int64(8) <= c:
                                    x_cache[ax0 * T.int64(16) + ax1_0 * T.int64(8):ax0 * T.int64(16) + ax1_0 * T.int64(8) + T.int64(8)] = x_1[T.Ramp(j_0 * T.int64(16) + h * w * c * part_1 + c * part_2 * T.int64(16) + ax1_0 * T.int64(8) + c * ax0, T.int64(1), 8)]
                                else:
                                    x_cache[ax0 * T.int64(16) + ax1_0 * T.int64(8):ax0 * T.int64(16) + ax1_0 * T.int64(8) + T.int64(8)] = T.if_then_else(T.Ramp(j_0 * T.int64(16) + ax1_0 * T.int64(8), T.int64(1), 8) < T.Broadcast(c, 8), x_1[T.Ramp(j_0 * T.int64(16) + h * w * c * part_1 + c * part_2 * T.int64(16) + ax1_0 * T.int64(8) + c * ax0, T.int64(1), 8)], T.Broadcast(T.float32(0.0), 8))
                        for j_1 in T.serial(T.min(c - j_0 * T.int64(16), T.int64(16)), annotations={"pragma_no_unroll": 1}):
                            for k_l_1 in T.unroll(T.int64(2)):
                                y_1[part_2 * T.int64(16) + h * w * c * part_1 + h * w * j_0 * T.int64(16) + k_l_1 * T.int64(8) + h * w * j_1:part_2 * T.int64(16) + h * w * c * part_1 + h * w * j_0 * T.int64(16) + k_l_1 * T.int64(8) + h * w * j_1 + T.int64(8)] = x_cache[T.Ramp(j_1 + k_l_1 * T.int64(128), T.int64(16), 8)]
            else:
                for j_0 in range((c + T.int64(15)) // T.int64(16)):
                    if j_0 * T.int64(16) + T.int64(16) <= c:
                        x_cache = T.alloc_buffer((T.int64(256),), scope="local")
                        for ax0 in T.serial(T.min(h * w - part * T.int64(16), T.int64(16)), annotations={"pragma_no_unroll": 1}):
                            for ax1_0 in T.unroll(T.int64(2)):
                                x_cache[ax0 * T.int64(16) + ax1_0 * T.int64(8):ax0 * T.int64(16) + ax1_0 * T.int64(8) + T.int64(8)] = x_1[T.Ramp(h * w * c * part_3 + c * part * T.int64(16) + j_0 * T.int64(16) + ax1_0 * T.int64(8) + c * ax0, T.int64(1), 8)]
                        for j_1 in T.serial(T.int64(16), annotations={"pragma_no_unroll": 1}):
                            for k_l_1 in T.serial(T.int64(2), annotations={"pragma_no_unroll": 1}):
                                for k_l_2 in T.serial(T.min(T.max(h * w - part * T.int64(16) - k_l_1 * T.int64(8), T.int64(0)), T.int64(8)), annotations={"pragma_no_unroll": 1}):
                                    y_1[part * T.int64(16) + h * w * c * part_3 + k_l_1 * T.int64(8) + k_l_2 + h * w * j_0 * T.int64(16) + h * w * j_1] = x_cache[j_1 + k_l_1 * T.int64(128) + k_l_2 * T.int64(16)]
                    else:
                        x_cache = T.alloc_buffer((T.int64(256),), scope="local")
                        for ax0 in T.serial(T.min(h * w - part * T.int64(16), T.int64(16)), annotations={"pragma_no_unroll": 1}):
                            for ax1_0 in T.serial(T.int64(2), annotations={"pragma_no_unroll": 1}):
                                if j_0 * T.int64(16) + ax1_0 * T.int64(8) + T.int64(8) <= c:
                                    x_cache[ax0 * T.int64(16) + ax1_0 * T.int64(8):ax0 * T.int64(16) + ax1_0 * T.int64(8) + T.int64(8)] = x_1[T.Ramp(h * w * c * part_3 + c * part * T.int64(16) + j_0 * T.int64(16) + ax1_0 * T.int64(8) + c * ax0, T.int64(1), 8)]
                                else:
                                    x_cache[ax0 * T.int64(16) + ax1_0 * T.int64(8):ax0 * T.int64(16) + ax1_0 * T.int64(8) + T.int64(8)] = T.if_then_else(T.Ramp(j_0 * T.int64(16) + ax1_0 * T.int64(8), T.int64(1), 8) < T.Broadcast(c, 8), x_1[T.Ramp(h * w * c * part_3 + c * part * T.int64(16) + j_0 * T.int64(16) + ax1_0 * T.int64(8) + c * ax0, T.int64(1), 8)], T.Broadcast(T.float32(0.0), 8))
                        for j_1 in T.serial(T.min(c - j_0 * T.int64(16), T.int64(16)), annotations={"pragma_no_unroll": 1}):
                            for k_l_1 in T.serial(T.int64(2), annotations={"pragma_no_unroll": 1}):
                                for k_l_2 in T.serial(T.min(T.max(h * w - part * T.int64(16) - k_l_1 * T.int64(8), T.int64(0)), T.int64(8)), annotations={"pragma_no_unroll": 1}):
                                    y_1[part * T.int64(16) + h * w * c * part_3 + h * w * j_0 * T.int64(16) + k_l_1 * T.int64(8) + k_l_2 + h * w * j_1] = x_cache[j_1 + k_l_1 * T.int64(128) + k_l_2 * T.int64(16)]
