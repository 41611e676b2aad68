# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ScheduleForCPU,DeadCodeElimination
# target: llvm -mcpu=x86-64-v3 -threads=2
# A gate is computed once; the pixels that it is multiplied with are not copies of a tile's code, and threads share them.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 8), "float32"), w: R.Tensor((8, 16), "float32"), image: R.Tensor((3136, 16), "float32")):
        with R.dataflow():
            product = R.matmul(x, w)
            gate = R.nn.relu(product)
            y = R.multiply(gate, image)
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
    def fused_matmul_relu_multiply(x: T.Buffer((T.int64(1), T.int64(8)), "float32"), w: T.Buffer((T.int64(8), T.int64(16)), "float32"), image: T.Buffer((T.int64(3136), T.int64(16)), "float32"), T_multiply_intermediate: T.Buffer((T.int64(3136), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        compute_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(16)))
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
                                T.reads(matmul_intermediate[v_i0, v_i1], x[v_i0, v_k], w[v_k, v_i1])
                                T.writes(matmul_intermediate[v_i0, v_i1])
                                matmul_intermediate[v_i0, v_i1] = matmul_intermediate[v_i0, v_i1] + x[v_i0, v_k] * w[v_k, v_i1]
            for ax0_0 in T.unroll(T.int64(2)):
                for ax0_1 in T.vectorized(T.int64(8)):
                    with T.sblock("compute"):
                        v_i0 = T.axis.spatial(T.int64(1), T.int64(0))
                        v_i1 = T.axis.spatial(T.int64(16), ax0_0 * T.int64(8) + ax0_1)
                        T.reads(matmul_intermediate[v_i0, v_i1])
                        T.writes(compute_intermediate[v_i0, v_i1])
                        compute_intermediate[v_i0, v_i1] = T.max(matmul_intermediate[v_i0, v_i1], T.float32(0.0))
        for ax0 in T.parallel(T.int64(3136)):
            for ax1_0 in range(T.int64(2)):
                for ax1_1 in T.vectorized(T.int64(8)):
                    with T.sblock("T_multiply"):
                        v_ax0 = T.axis.spatial(T.int64(3136), ax0)
                        v_ax1 = T.axis.spatial(T.int64(16), ax1_0 * T.int64(8) + ax1_1)
                        T.reads(compute_intermediate[T.int64(0), v_ax1], image[v_ax0, v_ax1])
                        T.writes(T_multiply_intermediate[v_ax0, v_ax1])
                        T_multiply_intermediate[v_ax0, v_ax1] = compute_intermediate[T.int64(0), v_ax1] * image[v_ax0, v_ax1]

    @R.function
    def main(x: R.Tensor((1, 8), dtype="float32"), w: R.Tensor((8, 16), dtype="float32"), image: R.Tensor((3136, 16), dtype="float32")) -> R.Tensor((3136, 16), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.fused_matmul_relu_multiply, (x, w, image), out_ty=R.Tensor((3136, 16), dtype="float32"))
            R.output(y)
        return y
