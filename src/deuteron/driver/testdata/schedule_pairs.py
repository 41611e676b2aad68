# run: PackWeights,LegalizeOps,ScheduleForCPU,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3
# expect: changes
# A product of pairs of int16 in tiles of six rows and two vectors: with a vector of the weights, a scalar of the data
# and the sum of a pair they fill sixteen registers.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((24, 6), "int32"), w: R.Tensor((2, 6, 16), "int32")):
        with R.dataflow():
            a = R.nn.dense_pack(x, w, columns=32, packing="i16x2", out_dtype="int32")
            R.output(a)
        return a
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def dense_pack(x: T.Buffer((T.int64(24), T.int64(6)), "int32"), w: T.Buffer((T.int64(2), T.int64(6), T.int64(16)), "int32"), dense_pack: T.Buffer((T.int64(24), T.int64(32)), "int32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        dense_pack_local = T.sblock_alloc_buffer((T.int64(24), T.int64(32)), "int32", scope="local")
        for i1_0_i0_0_fused in T.parallel(T.int64(8)):
            for i0_1 in T.unroll(T.int64(6)):
                for i1_1 in T.unroll(T.int64(2)):
                    for i1_2 in T.vectorized(T.int64(8)):
                        with T.sblock("dense_pack_init"):
                            v_i0 = T.axis.spatial(T.int64(24), i1_0_i0_0_fused % T.int64(4) * T.int64(6) + i0_1)
                            v_i1 = T.axis.spatial(T.int64(32), i1_0_i0_0_fused // T.int64(4) * T.int64(16) + i1_1 * T.int64(8) + i1_2)
                            T.reads()
                            T.writes(dense_pack_local[v_i0, v_i1])
                            dense_pack_local[v_i0, v_i1] = 0
            for k in T.serial(T.int64(6), annotations={"pragma_no_unroll": 1, "prefetch_steps": 40}):
                for i0_1 in T.unroll(T.int64(6)):
                    for i1_1 in T.unroll(T.int64(2)):
                        for i1_2 in T.vectorized(T.int64(8)):
                            with T.sblock("dense_pack"):
                                v_i0 = T.axis.spatial(T.int64(24), i1_0_i0_0_fused % T.int64(4) * T.int64(6) + i0_1)
                                v_i1 = T.axis.spatial(T.int64(32), i1_0_i0_0_fused // T.int64(4) * T.int64(16) + i1_1 * T.int64(8) + i1_2)
                                v_k = T.axis.reduce(T.int64(6), k)
                                T.reads(dense_pack_local[v_i0, v_i1], x[v_i0, v_k], w[v_i1 // T.int64(16), v_k, v_i1 % T.int64(16)])
                                T.writes(dense_pack_local[v_i0, v_i1])
                                dense_pack_local[v_i0, v_i1] = dense_pack_local[v_i0, v_i1] + T.dot_i16x2(x[v_i0, v_k], w[v_i1 // T.int64(16), v_k, v_i1 % T.int64(16)])
            for ax0 in T.unroll(T.int64(6)):
                for ax1_0 in T.unroll(T.int64(2)):
                    for ax1_1 in T.vectorized(T.int64(8)):
                        with T.sblock("dense_pack_write"):
                            v_ax0 = T.axis.spatial(T.int64(24), i1_0_i0_0_fused % T.int64(4) * T.int64(6) + ax0)
                            v_ax1 = T.axis.spatial(T.int64(32), i1_0_i0_0_fused // T.int64(4) * T.int64(16) + ax1_0 * T.int64(8) + ax1_1)
                            T.reads(dense_pack_local[v_ax0, v_ax1])
                            T.writes(dense_pack[v_ax0, v_ax1])
                            dense_pack[v_ax0, v_ax1] = dense_pack_local[v_ax0, v_ax1]

    @R.function
    def main(x: R.Tensor((24, 6), dtype="int32"), w: R.Tensor((2, 6, 16), dtype="int32")) -> R.Tensor((24, 32), dtype="int32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.dense_pack, (x, w), out_ty=R.Tensor((24, 32), dtype="int32"))
            R.output(a)
        return a
