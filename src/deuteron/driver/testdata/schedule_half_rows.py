# run: LegalizeOps,FuseTIR,ScheduleForCPU,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3 -threads=2
# Each tile widens the rows of halves that it reads, once for its vectors: all of them are never in memory.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((96, 64), "float16"), w: R.Tensor((1, 64, 32), "float16")):
        with R.dataflow():
            gv = R.nn.dense_pack(x, w, columns=32)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def dense_pack(x: T.Buffer((T.int64(96), T.int64(64)), "float16"), w: T.Buffer((T.int64(1), T.int64(64), T.int64(32)), "float16"), T_cast: T.Buffer((T.int64(96), T.int64(32)), "float16")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        widened = T.sblock_alloc_buffer((T.int64(96), T.int64(64)))
        w_cache = T.sblock_alloc_buffer((T.int64(1), T.int64(64), T.int64(32)), "float16")
        dense_pack = T.sblock_alloc_buffer((T.int64(96), T.int64(32)), scope="local")
        for i0_0_i1_0_fused in T.parallel(T.int64(2)):
            for i0_1_0 in range(T.int64(24)):
                for ax0, ax1_0 in T.grid(T.int64(2), T.int64(8)):
                    for ax1_1 in T.vectorized(T.int64(8)):
                        with T.sblock("widened"):
                            v_ax0 = T.axis.spatial(T.int64(96), i0_0_i1_0_fused * T.int64(48) + i0_1_0 * T.int64(2) + ax0)
                            v_ax1 = T.axis.spatial(T.int64(64), ax1_0 * T.int64(8) + ax1_1)
                            T.reads(x[v_ax0, v_ax1])
                            T.writes(widened[v_ax0, v_ax1])
                            widened[v_ax0, v_ax1] = T.Cast("float32", x[v_ax0, v_ax1])
                for i0_1_1 in T.unroll(T.int64(2)):
                    for i1_1 in T.unroll(T.int64(4)):
                        for i1_2 in T.vectorized(T.int64(8)):
                            with T.sblock("dense_pack_init"):
                                v_i0 = T.axis.spatial(T.int64(96), i0_0_i1_0_fused * T.int64(48) + i0_1_0 * T.int64(2) + i0_1_1)
                                v_i1 = T.axis.spatial(T.int64(32), i1_1 * T.int64(8) + i1_2)
                                T.reads()
                                T.writes(dense_pack[v_i0, v_i1])
                                dense_pack[v_i0, v_i1] = T.float32(0.0)
                for k in T.serial(T.int64(64), annotations={"pragma_no_unroll": 1, "prefetch_steps": 31}):
                    for ax0_0 in T.unroll(T.int64(4)):
                        for ax0_1 in T.vectorized(T.int64(8)):
                            with T.sblock("w_cache"):
                                v_ax0 = T.axis.spatial(T.int64(1), T.int64(0))
                                v_ax1 = T.axis.spatial(T.int64(64), k)
                                v_ax2 = T.axis.spatial(T.int64(32), ax0_0 * T.int64(8) + ax0_1)
                                T.where(i0_1_0 == T.int64(0))
                                T.reads(w[v_ax0, v_ax1, v_ax2])
                                T.writes(w_cache[v_ax0, v_ax1, v_ax2])
                                w_cache[v_ax0, v_ax1, v_ax2] = w[v_ax0, v_ax1, v_ax2]
                    for i0_1_1 in T.unroll(T.int64(2)):
                        for i1_1 in T.unroll(T.int64(4)):
                            for i1_2 in T.vectorized(T.int64(8)):
                                with T.sblock("dense_pack"):
                                    v_i0 = T.axis.spatial(T.int64(96), i0_0_i1_0_fused * T.int64(48) + i0_1_0 * T.int64(2) + i0_1_1)
                                    v_i1 = T.axis.spatial(T.int64(32), i1_1 * T.int64(8) + i1_2)
                                    v_k = T.axis.reduce(T.int64(64), k)
                                    T.reads(dense_pack[v_i0, v_i1], widened[v_i0, v_k], w_cache[v_i1 // T.int64(32), v_k, v_i1 % T.int64(32)])
                                    T.writes(dense_pack[v_i0, v_i1])
                                    dense_pack[v_i0, v_i1] = dense_pack[v_i0, v_i1] + widened[v_i0, v_k] * T.Cast("float32", w_cache[v_i1 // T.int64(32), v_k, v_i1 % T.int64(32)])
                for ax0 in T.unroll(T.int64(2)):
                    for ax1_0 in T.unroll(T.int64(4)):
                        for ax1_1 in T.vectorized(T.int64(8)):
                            with T.sblock("T_cast"):
                                v_ax0 = T.axis.spatial(T.int64(96), i0_0_i1_0_fused * T.int64(48) + i0_1_0 * T.int64(2) + ax0)
                                v_ax1 = T.axis.spatial(T.int64(32), ax1_0 * T.int64(8) + ax1_1)
                                T.reads(dense_pack[v_ax0, v_ax1])
                                T.writes(T_cast[v_ax0, v_ax1])
                                T_cast[v_ax0, v_ax1] = T.Cast("float16", dense_pack[v_ax0, v_ax1])

    @R.function
    def main(x: R.Tensor((96, 64), dtype="float16"), w: R.Tensor((1, 64, 32), dtype="float16")) -> R.Tensor((96, 32), dtype="float16"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.dense_pack, (x, w), out_ty=R.Tensor((96, 32), dtype="float16"))
            R.output(gv)
        return gv
