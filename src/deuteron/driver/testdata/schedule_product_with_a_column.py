# run: LegalizeOps,ScheduleForCPU
# target: llvm -mcpu=x86-64-v3 -threads=1
# Rows of the matrix are summed in lanes: no panels are laid out of one column.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((16, 1024), "float32"), w: R.Tensor((1024, 1), "float32")):
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

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((T.int64(16), T.int64(1024)), "float32"), w: T.Buffer((T.int64(1024), T.int64(1)), "float32"), matmul: T.Buffer((T.int64(16), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        matmul_rf = T.sblock_alloc_buffer((T.int64(16), T.int64(1), T.int64(32)))
        matmul_rf_1 = T.sblock_alloc_buffer((T.int64(16), T.int64(1), T.int64(8)))
        matmul_rf_2 = T.sblock_alloc_buffer((T.int64(16), T.int64(1), T.int64(4)))
        matmul_rf_3 = T.sblock_alloc_buffer((T.int64(16), T.int64(1), T.int64(2)))
        for i0 in T.parallel(T.int64(16)):
            for i1 in range(T.int64(1)):
                for k_1 in T.vectorized(T.int64(32)):
                    with T.sblock("matmul_rf_init"):
                        v_i0 = T.axis.spatial(T.int64(16), i0)
                        v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_k_1 = T.axis.spatial(T.int64(32), k_1)
                        T.reads()
                        T.writes(matmul_rf[v_i0, T.int64(0), v_k_1])
                        matmul_rf[v_i0, T.int64(0), v_k_1] = T.float32(0.0)
                for k_0 in range(T.int64(32)):
                    for k_1 in T.vectorized(T.int64(32)):
                        with T.sblock("matmul_rf"):
                            v_i0 = T.axis.spatial(T.int64(16), i0)
                            v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                            v_k_1, v_k_0 = T.axis.remap("SR", [k_1, k_0])
                            T.reads(matmul_rf[v_i0, T.int64(0), v_k_1], x[v_i0, v_k_1 + v_k_0 * T.int64(32)], w[v_k_1 + v_k_0 * T.int64(32), T.int64(0)])
                            T.writes(matmul_rf[v_i0, T.int64(0), v_k_1])
                            matmul_rf[v_i0, T.int64(0), v_k_1] = matmul_rf[v_i0, T.int64(0), v_k_1] + x[v_i0, v_k_1 + v_k_0 * T.int64(32)] * w[v_k_1 + v_k_0 * T.int64(32), T.int64(0)]
                for k_1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("matmul_rf_1_init"):
                        v_i0 = T.axis.spatial(T.int64(16), i0)
                        v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_k_1_1 = T.axis.spatial(T.int64(8), k_1_1)
                        T.reads()
                        T.writes(matmul_rf_1[v_i0, T.int64(0), v_k_1_1])
                        matmul_rf_1[v_i0, T.int64(0), v_k_1_1] = T.float32(0.0)
                for k_1_0 in T.unroll(T.int64(4)):
                    for k_1_1 in T.vectorized(T.int64(8)):
                        with T.sblock("matmul_rf_1"):
                            v_i0 = T.axis.spatial(T.int64(16), i0)
                            v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                            v_k_1_1, v_k_1_0 = T.axis.remap("SR", [k_1_1, k_1_0])
                            T.reads(matmul_rf_1[v_i0, T.int64(0), v_k_1_1], matmul_rf[v_i0, T.int64(0), v_k_1_1 + v_k_1_0 * T.int64(8)])
                            T.writes(matmul_rf_1[v_i0, T.int64(0), v_k_1_1])
                            matmul_rf_1[v_i0, T.int64(0), v_k_1_1] = matmul_rf_1[v_i0, T.int64(0), v_k_1_1] + matmul_rf[v_i0, T.int64(0), v_k_1_1 + v_k_1_0 * T.int64(8)]
                for k_1_1_1 in T.vectorized(T.int64(4)):
                    with T.sblock("matmul_rf_2_init"):
                        v_i0 = T.axis.spatial(T.int64(16), i0)
                        v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_k_1_1_1 = T.axis.spatial(T.int64(4), k_1_1_1)
                        T.reads()
                        T.writes(matmul_rf_2[v_i0, T.int64(0), v_k_1_1_1])
                        matmul_rf_2[v_i0, T.int64(0), v_k_1_1_1] = T.float32(0.0)
                for k_1_1_0 in T.unroll(T.int64(2)):
                    for k_1_1_1 in T.vectorized(T.int64(4)):
                        with T.sblock("matmul_rf_2"):
                            v_i0 = T.axis.spatial(T.int64(16), i0)
                            v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                            v_k_1_1_1, v_k_1_1_0 = T.axis.remap("SR", [k_1_1_1, k_1_1_0])
                            T.reads(matmul_rf_2[v_i0, T.int64(0), v_k_1_1_1], matmul_rf_1[v_i0, T.int64(0), v_k_1_1_1 + v_k_1_1_0 * T.int64(4)])
                            T.writes(matmul_rf_2[v_i0, T.int64(0), v_k_1_1_1])
                            matmul_rf_2[v_i0, T.int64(0), v_k_1_1_1] = matmul_rf_2[v_i0, T.int64(0), v_k_1_1_1] + matmul_rf_1[v_i0, T.int64(0), v_k_1_1_1 + v_k_1_1_0 * T.int64(4)]
                for k_1_1_1_1 in T.vectorized(T.int64(2)):
                    with T.sblock("matmul_rf_3_init"):
                        v_i0 = T.axis.spatial(T.int64(16), i0)
                        v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_k_1_1_1_1 = T.axis.spatial(T.int64(2), k_1_1_1_1)
                        T.reads()
                        T.writes(matmul_rf_3[v_i0, T.int64(0), v_k_1_1_1_1])
                        matmul_rf_3[v_i0, T.int64(0), v_k_1_1_1_1] = T.float32(0.0)
                for k_1_1_1_0 in T.unroll(T.int64(2)):
                    for k_1_1_1_1 in T.vectorized(T.int64(2)):
                        with T.sblock("matmul_rf_3"):
                            v_i0 = T.axis.spatial(T.int64(16), i0)
                            v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                            v_k_1_1_1_1, v_k_1_1_1_0 = T.axis.remap("SR", [k_1_1_1_1, k_1_1_1_0])
                            T.reads(matmul_rf_3[v_i0, T.int64(0), v_k_1_1_1_1], matmul_rf_2[v_i0, T.int64(0), v_k_1_1_1_1 + v_k_1_1_1_0 * T.int64(2)])
                            T.writes(matmul_rf_3[v_i0, T.int64(0), v_k_1_1_1_1])
                            matmul_rf_3[v_i0, T.int64(0), v_k_1_1_1_1] = matmul_rf_3[v_i0, T.int64(0), v_k_1_1_1_1] + matmul_rf_2[v_i0, T.int64(0), v_k_1_1_1_1 + v_k_1_1_1_0 * T.int64(2)]
                for k_1_1_1_1 in range(T.int64(2)):
                    with T.sblock("matmul"):
                        v_i0 = T.axis.spatial(T.int64(16), i0)
                        v_i1 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_k_1_1_1_1 = T.axis.reduce(T.int64(2), k_1_1_1_1)
                        T.reads(matmul_rf_3[v_i0, v_i1, v_k_1_1_1_1])
                        T.writes(matmul[v_i0, v_i1])
                        with T.init():
                            matmul[v_i0, v_i1] = T.float32(0.0)
                        matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + matmul_rf_3[v_i0, v_i1, v_k_1_1_1_1]

    @R.function
    def main(x: R.Tensor((16, 1024), dtype="float32"), w: R.Tensor((1024, 1), dtype="float32")) -> R.Tensor((16, 1), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((16, 1), dtype="float32"))
            R.output(y)
        return y
