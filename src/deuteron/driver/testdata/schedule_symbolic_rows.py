# run: LegalizeOps,ScheduleForCPU
# target: llvm -mcpu=x86-64-v4 -threads=1
# Of a batch and a length that the run tells, tiles are along the length, though its rows compete for a cache.
batch = TypeVar("batch")
length = TypeVar("length")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((batch, length, 4096), "float32"), w: R.Tensor((4096, 64), "float32")):
        with R.dataflow():
            y = R.matmul(x, w)
            R.output(y)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

batch = TypeVar("batch")
length = TypeVar("length")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((batch, length, T.int64(4096)), "float32"), w: T.Buffer((T.int64(4096), T.int64(64)), "float32"), matmul: T.Buffer((batch, length, T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        matmul_rf = T.sblock_alloc_buffer((T.int64(8), batch, length, T.int64(64)), scope="local")
        matmul_rf_rf = T.sblock_alloc_buffer((T.int64(4), T.int64(8), batch, length, T.int64(64)), scope="local")
        x_cache = T.sblock_alloc_buffer((T.int64(256), batch, length, T.int64(16)))
        for i2_0_0 in T.parallel(T.int64(1)):
            for ax0, ax1, ax2 in T.grid(T.int64(256), batch, length):
                for ax3 in T.vectorized(T.int64(16)):
                    with T.sblock("x_cache"):
                        v_l0, v_l1, v_l2, v_l3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                        T.reads(x[v_l1, v_l2, v_l0 * T.int64(16) + v_l3])
                        T.writes(x_cache[v_l0, v_l1, v_l2, v_l3])
                        x_cache[v_l0, v_l1, v_l2, v_l3] = x[v_l1, v_l2, v_l0 * T.int64(16) + v_l3]
            for i2_0_1 in range(T.int64(2)):
                for i0, i1_0, ax0 in T.grid(batch, (length + T.int64(13)) // T.int64(14), T.int64(14)):
                    for ax1 in T.vectorized(T.int64(32)):
                        with T.sblock("matmul_init"):
                            v_i0 = T.axis.spatial(batch, i0)
                            v_i1 = T.axis.spatial(length, i1_0 * T.int64(14) + ax0)
                            v_i2 = T.axis.spatial(T.int64(64), i2_0_1 * T.int64(32) + ax1)
                            T.where(i1_0 * T.int64(14) + ax0 < length)
                            T.reads()
                            T.writes(matmul[v_i0, v_i1, v_i2])
                            matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                for k_0_0, i0, i1_0 in T.grid(T.int64(8), batch, (length + T.int64(13)) // T.int64(14)):
                    for ax0 in T.unroll(T.int64(14)):
                        for ax1_0 in T.unroll(T.int64(2)):
                            for ax1_1 in T.vectorized(T.int64(16)):
                                with T.sblock("matmul_rf_init"):
                                    v_i0 = T.axis.spatial(batch, i0)
                                    v_i1 = T.axis.spatial(length, i1_0 * T.int64(14) + ax0)
                                    v_i2 = T.axis.spatial(T.int64(64), i2_0_1 * T.int64(32) + ax1_0 * T.int64(16) + ax1_1)
                                    v_k_0_0 = T.axis.spatial(T.int64(8), k_0_0)
                                    T.where(i1_0 * T.int64(14) + ax0 < length)
                                    T.reads()
                                    T.writes(matmul_rf[v_k_0_0, v_i0, v_i1, v_i2])
                                    matmul_rf[v_k_0_0, v_i0, v_i1, v_i2] = T.float32(0.0)
                    for k_0_1 in range(T.int64(4)):
                        for i1_1 in T.unroll(T.int64(14)):
                            for i2_1 in T.unroll(T.int64(2)):
                                for i2_2 in T.vectorized(T.int64(16)):
                                    with T.sblock("matmul_rf_rf_init"):
                                        v_i0 = T.axis.spatial(batch, i0)
                                        v_i1 = T.axis.spatial(length, i1_0 * T.int64(14) + i1_1)
                                        v_i2 = T.axis.spatial(T.int64(64), i2_0_1 * T.int64(32) + i2_1 * T.int64(16) + i2_2)
                                        v_k_0_0, v_k_0_1 = T.axis.remap("SS", [k_0_0, k_0_1])
                                        T.where(i1_0 * T.int64(14) + i1_1 < length)
                                        T.reads()
                                        T.writes(matmul_rf_rf[v_k_0_1, v_k_0_0, v_i0, v_i1, v_i2])
                                        matmul_rf_rf[v_k_0_1, v_k_0_0, v_i0, v_i1, v_i2] = T.float32(0.0)
                        for k_1_0 in T.serial(T.int64(8), annotations={"pragma_no_unroll": 1}):
                            for k_1_1 in T.serial(T.int64(16), annotations={"pragma_no_unroll": 1, "prefetch_steps": 18}):
                                for i1_1 in T.unroll(T.int64(14)):
                                    for i2_1 in T.unroll(T.int64(2)):
                                        for i2_2 in T.vectorized(T.int64(16)):
                                            with T.sblock("matmul_rf_rf"):
                                                v_i0 = T.axis.spatial(batch, i0)
                                                v_i1 = T.axis.spatial(length, i1_0 * T.int64(14) + i1_1)
                                                v_i2 = T.axis.spatial(T.int64(64), i2_0_1 * T.int64(32) + i2_1 * T.int64(16) + i2_2)
                                                v_k_0_0, v_k_0_1 = T.axis.remap("SS", [k_0_0, k_0_1])
                                                v_k_1 = T.axis.reduce(T.int64(128), k_1_0 * T.int64(16) + k_1_1)
                                                T.where(i1_0 * T.int64(14) + i1_1 < length)
                                                T.reads(matmul_rf_rf[v_k_0_1, v_k_0_0, v_i0, v_i1, v_i2], x_cache[v_k_0_0 * T.int64(32) + v_k_0_1 * T.int64(8) + v_k_1 // T.int64(16), v_i0, v_i1, v_k_1 % T.int64(16)], w[v_k_0_0 * T.int64(512) + v_k_0_1 * T.int64(128) + v_k_1, v_i2])
                                                T.writes(matmul_rf_rf[v_k_0_1, v_k_0_0, v_i0, v_i1, v_i2])
                                                matmul_rf_rf[v_k_0_1, v_k_0_0, v_i0, v_i1, v_i2] = matmul_rf_rf[v_k_0_1, v_k_0_0, v_i0, v_i1, v_i2] + x_cache[v_k_0_0 * T.int64(32) + v_k_0_1 * T.int64(8) + v_k_1 // T.int64(16), v_i0, v_i1, v_k_1 % T.int64(16)] * w[v_k_0_0 * T.int64(512) + v_k_0_1 * T.int64(128) + v_k_1, v_i2]
                        for ax0 in T.unroll(T.int64(14)):
                            for ax1_0 in T.unroll(T.int64(2)):
                                for ax1_1 in T.vectorized(T.int64(16)):
                                    with T.sblock("matmul_rf"):
                                        v_i0 = T.axis.spatial(batch, i0)
                                        v_i1 = T.axis.spatial(length, i1_0 * T.int64(14) + ax0)
                                        v_i2 = T.axis.spatial(T.int64(64), i2_0_1 * T.int64(32) + ax1_0 * T.int64(16) + ax1_1)
                                        v_k_0_0, v_k_0_1 = T.axis.remap("SR", [k_0_0, k_0_1])
                                        T.where(i1_0 * T.int64(14) + ax0 < length)
                                        T.reads(matmul_rf[v_k_0_0, v_i0, v_i1, v_i2], matmul_rf_rf[v_k_0_1, v_k_0_0, v_i0, v_i1, v_i2])
                                        T.writes(matmul_rf[v_k_0_0, v_i0, v_i1, v_i2])
                                        matmul_rf[v_k_0_0, v_i0, v_i1, v_i2] = matmul_rf[v_k_0_0, v_i0, v_i1, v_i2] + matmul_rf_rf[v_k_0_1, v_k_0_0, v_i0, v_i1, v_i2]
                    for ax0 in T.unroll(T.int64(14)):
                        for ax1_0 in T.unroll(T.int64(2)):
                            for ax1_1 in T.vectorized(T.int64(16)):
                                with T.sblock("matmul"):
                                    v_i0 = T.axis.spatial(batch, i0)
                                    v_i1 = T.axis.spatial(length, i1_0 * T.int64(14) + ax0)
                                    v_i2 = T.axis.spatial(T.int64(64), i2_0_1 * T.int64(32) + ax1_0 * T.int64(16) + ax1_1)
                                    v_k_0_0 = T.axis.reduce(T.int64(8), k_0_0)
                                    T.where(i1_0 * T.int64(14) + ax0 < length)
                                    T.reads(matmul[v_i0, v_i1, v_i2], matmul_rf[v_k_0_0, v_i0, v_i1, v_i2])
                                    T.writes(matmul[v_i0, v_i1, v_i2])
                                    matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + matmul_rf[v_k_0_0, v_i0, v_i1, v_i2]

    @R.function
    def main(x: R.Tensor((batch, length, 4096), dtype="float32"), w: R.Tensor((4096, 64), dtype="float32")) -> R.Tensor((batch, length, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((batch, length, 64), dtype="float32"))
            R.output(y)
        return y
