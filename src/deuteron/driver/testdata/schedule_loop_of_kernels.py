# run: LambdaLift,ConvertToDataflow,LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,FuseLoops,ScheduleForCPU
# target: llvm -mcpu=x86-64-v3 -threads=2
# The kernels of a loop's step are scheduled each for itself; gates of one tile are computed in vectors.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5, 1, 16), "float32"), w: R.Tensor((8, 16), "float32"), s: R.Tensor((1, 8), "float32")):
        with R.dataflow():
            @R.function
            def step(t: R.Shape(["i"]), a: R.Tensor((1, 8), "float32")):
                i = T.int64()
                with R.dataflow():
                    row = R.squeeze(R.strided_slice(x, (0,), (i,), (i + 1,), assume_inbound=True), axis=[0])
                    gates = R.add(R.matmul(a, w), row)
                    u = R.sigmoid(R.strided_slice(gates, (1,), (0,), (8,), assume_inbound=True))
                    v = R.strided_slice(gates, (1,), (8,), (16,), assume_inbound=True)
                    b = R.multiply(u, v)
                    R.output(b)
                return (b, b)

            r = R.loop(step, 5, (s,), ty_args=(R.Tuple(R.Tensor((1, 8), "float32"), R.Tensor((5, 1, 8), "float32")),))
            y = r[1]
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
    def loop_of_main_step(state_0_first: T.Buffer((T.int64(1), T.int64(8)), "float32"), x: T.Buffer((T.int64(5), T.int64(1), T.int64(16)), "float32"), w: T.Buffer((T.int64(8), T.int64(16)), "float32"), state_0_last: T.Buffer((T.int64(1), T.int64(8)), "float32"), rows_0: T.Buffer((T.int64(5), T.int64(1), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_add_intermediate_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(16)))
        T_multiply_intermediate_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(8)))
        a = T.sblock_alloc_buffer((T.int64(1), T.int64(8)))
        with T.sblock("state_0_begins_kernel"):
            T.reads(state_0_first[T.int64(0), T.int64(0):T.int64(8)])
            T.writes(a[T.int64(0), T.int64(0):T.int64(8)])
            T.sblock_attr({"kernel": True})
            for ax0_ax1_fused in T.vectorized(T.int64(8)):
                with T.sblock("state_0_begins"):
                    v_ax0 = T.axis.spatial(T.int64(1), T.int64(0))
                    v_ax1 = T.axis.spatial(T.int64(8), ax0_ax1_fused)
                    T.reads(state_0_first[v_ax0, v_ax1])
                    T.writes(a[v_ax0, v_ax1])
                    a[v_ax0, v_ax1] = state_0_first[v_ax0, v_ax1]
        for i in range(T.int64(5)):
            with T.sblock("fused_squeeze_matmul_add"):
                T.reads(x[i, T.int64(0), T.int64(0):T.int64(16)], a[T.int64(0), T.int64(0):T.int64(8)], w[T.int64(0):T.int64(8), T.int64(0):T.int64(16)])
                T.writes(T_add_intermediate_intermediate[T.int64(0), T.int64(0):T.int64(16)])
                T.sblock_attr({"kernel": True})
                matmul_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(16)), scope="local")
                for i1_0_i0_0_fused in T.parallel(T.int64(1)):
                    for i1_1 in T.unroll(T.int64(2)):
                        for i1_2 in T.vectorized(T.int64(8)):
                            with T.sblock("matmul_init"):
                                v_i0 = T.axis.spatial(T.int64(1), T.int64(0))
                                v_i1 = T.axis.spatial(T.int64(16), i1_1 * T.int64(8) + i1_2)
                                T.reads()
                                T.writes(matmul_intermediate[v_i0, v_i1])
                                matmul_intermediate[v_i0, v_i1] = T.float32(0.0)
                    for k in T.serial(T.int64(8), annotations={"pragma_no_unroll": 1, "prefetch_steps": 62}):
                        for i0_1 in T.unroll(T.int64(1)):
                            for i1_1 in T.unroll(T.int64(2)):
                                for i1_2 in T.vectorized(T.int64(8)):
                                    with T.sblock("matmul"):
                                        v_i0 = T.axis.spatial(T.int64(1), T.int64(0))
                                        v_i1 = T.axis.spatial(T.int64(16), i1_1 * T.int64(8) + i1_2)
                                        v_k = T.axis.reduce(T.int64(8), k)
                                        T.reads(matmul_intermediate[v_i0, v_i1], a[v_i0, v_k], w[v_k, v_i1])
                                        T.writes(matmul_intermediate[v_i0, v_i1])
                                        matmul_intermediate[v_i0, v_i1] = matmul_intermediate[v_i0, v_i1] + a[v_i0, v_k] * w[v_k, v_i1]
                    for ax0_0 in T.unroll(T.int64(2)):
                        for ax0_1 in T.vectorized(T.int64(8)):
                            with T.sblock("T_add"):
                                v_ax0 = T.axis.spatial(T.int64(1), T.int64(0))
                                v_ax1 = T.axis.spatial(T.int64(16), ax0_0 * T.int64(8) + ax0_1)
                                T.reads(matmul_intermediate[v_ax0, v_ax1], x[i, v_ax0, v_ax1])
                                T.writes(T_add_intermediate_intermediate[v_ax0, v_ax1])
                                T_add_intermediate_intermediate[v_ax0, v_ax1] = matmul_intermediate[v_ax0, v_ax1] + x[i, v_ax0, v_ax1]
            with T.sblock("fused_strided_slice1_tir_sigmoid_strided_slice2_multiply"):
                T.reads(T_add_intermediate_intermediate[T.int64(0), T.int64(0):T.int64(16)])
                T.writes(T_multiply_intermediate_intermediate[T.int64(0), T.int64(0):T.int64(8)])
                T.sblock_attr({"kernel": True})
                for ax0 in T.parallel(T.int64(1)):
                    for ax1 in T.vectorized(T.int64(8)):
                        with T.sblock("T_multiply"):
                            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                            T.reads(T_add_intermediate_intermediate[v_ax0, v_ax1:v_ax1 + T.int64(9)])
                            T.writes(T_multiply_intermediate_intermediate[v_ax0, v_ax1])
                            T_multiply_intermediate_intermediate[v_ax0, v_ax1] = T.sigmoid(T_add_intermediate_intermediate[v_ax0, v_ax1]) * T_add_intermediate_intermediate[v_ax0, v_ax1 + T.int64(8)]
            with T.sblock("state_0_goes_on_kernel"):
                T.reads(T_multiply_intermediate_intermediate[T.int64(0), T.int64(0):T.int64(8)])
                T.writes(a[T.int64(0), T.int64(0):T.int64(8)])
                T.sblock_attr({"kernel": True})
                for ax0_ax1_fused in T.vectorized(T.int64(8)):
                    with T.sblock("state_0_goes_on"):
                        v_ax0 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_ax1 = T.axis.spatial(T.int64(8), ax0_ax1_fused)
                        T.reads(T_multiply_intermediate_intermediate[v_ax0, v_ax1])
                        T.writes(a[v_ax0, v_ax1])
                        a[v_ax0, v_ax1] = T_multiply_intermediate_intermediate[v_ax0, v_ax1]
            with T.sblock("row_0_kernel"):
                T.reads(T_multiply_intermediate_intermediate[T.int64(0), T.int64(0):T.int64(8)])
                T.writes(rows_0[T.int64(0):T.int64(5), T.int64(0), T.int64(0):T.int64(8)])
                T.sblock_attr({"kernel": True})
                for ax0_ax1_fused in T.vectorized(T.int64(8)):
                    with T.sblock("row_0"):
                        v_ax0 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_ax1 = T.axis.spatial(T.int64(8), ax0_ax1_fused)
                        T.reads(T_multiply_intermediate_intermediate[v_ax0, v_ax1])
                        T.writes(rows_0[i, v_ax0, v_ax1])
                        rows_0[i, v_ax0, v_ax1] = T_multiply_intermediate_intermediate[v_ax0, v_ax1]
        with T.sblock("state_0_ends_kernel"):
            T.reads(a[T.int64(0), T.int64(0):T.int64(8)])
            T.writes(state_0_last[T.int64(0), T.int64(0):T.int64(8)])
            T.sblock_attr({"kernel": True})
            for ax0_ax1_fused in T.vectorized(T.int64(8)):
                with T.sblock("state_0_ends"):
                    v_ax0 = T.axis.spatial(T.int64(1), T.int64(0))
                    v_ax1 = T.axis.spatial(T.int64(8), ax0_ax1_fused)
                    T.reads(a[v_ax0, v_ax1])
                    T.writes(state_0_last[v_ax0, v_ax1])
                    state_0_last[v_ax0, v_ax1] = a[v_ax0, v_ax1]

    @R.function
    def main(x: R.Tensor((5, 1, 16), dtype="float32"), w: R.Tensor((8, 16), dtype="float32"), s: R.Tensor((1, 8), dtype="float32")) -> R.Tensor((5, 1, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            r = R.call_tir(cls.loop_of_main_step, (s, x, w), out_ty=[R.Tensor((1, 8), dtype="float32"), R.Tensor((5, 1, 8), dtype="float32")])
            y: R.Tensor((5, 1, 8), dtype="float32") = r[1]
            R.output(y)
        return y
