# run: LambdaLift,ConvertToDataflow,LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,FuseLoops
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 3), "float32"), s: R.Tensor((3,), "float32")):
        n = T.int64()
        with R.dataflow():
            @R.function
            def step(t: R.Shape(["i"]), a: R.Tensor((3,), "float32")):
                i = T.int64()
                with R.dataflow():
                    row = R.strided_slice(x, (0,), (i,), (i + 1,), assume_inbound=True)
                    b = R.tanh(R.add(R.matmul(a, w), R.squeeze(row, axis=[0])))
                    c = R.multiply(b, R.const(2, "float32"))
                    R.output(b, c)
                return (b, c)

            r = R.loop(step, n, (s,), ty_args=(R.Tuple(R.Tensor((3,), "float32"), R.Tensor((n, 3), "float32")),))
            last = r[0]
            rows = r[1]
            R.output(last, rows)
        return (last, rows)
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
    def loop_of_main_step(state_0_first: T.Buffer((T.int64(3),), "float32"), x: T.Buffer((n, T.int64(3)), "float32"), w: T.Buffer((T.int64(3), T.int64(3)), "float32"), state_0_last: T.Buffer((T.int64(3),), "float32"), rows_0: T.Buffer(("trips", T.int64(3)), "float32"), trips: T.int64):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        matmul_intermediate = T.sblock_alloc_buffer((T.int64(3),))
        compute_intermediate_intermediate = T.sblock_alloc_buffer((T.int64(3),))
        T_multiply_intermediate = T.sblock_alloc_buffer((T.int64(3),))
        a = T.sblock_alloc_buffer((T.int64(3),))
        with T.sblock("state_0_begins_kernel"):
            T.reads(state_0_first[T.int64(0):T.int64(3)])
            T.writes(a[T.int64(0):T.int64(3)])
            T.sblock_attr({"kernel": True})
            for ax0 in range(T.int64(3)):
                with T.sblock("state_0_begins"):
                    v_ax0 = T.axis.spatial(T.int64(3), ax0)
                    T.reads(state_0_first[v_ax0])
                    T.writes(a[v_ax0])
                    a[v_ax0] = state_0_first[v_ax0]
        for i in range(trips):
            with T.sblock("matmul1"):
                T.reads(a[T.int64(0):T.int64(3)], w[T.int64(0):T.int64(3), T.int64(0):T.int64(3)])
                T.writes(matmul_intermediate[T.int64(0):T.int64(3)])
                T.sblock_attr({"kernel": True})
                for i0, k in T.grid(T.int64(3), T.int64(3)):
                    with T.sblock("matmul"):
                        v_i0, v_k = T.axis.remap("SR", [i0, k])
                        T.reads(a[v_k], w[v_k, v_i0])
                        T.writes(matmul_intermediate[v_i0])
                        with T.init():
                            matmul_intermediate[v_i0] = T.float32(0.0)
                        matmul_intermediate[v_i0] = matmul_intermediate[v_i0] + a[v_k] * w[v_k, v_i0]
            with T.sblock("fused_strided_slice_squeeze_add_tir_tanh"):
                T.reads(x[T.int64(0):n, T.int64(0):T.int64(3)], matmul_intermediate[T.int64(0):T.int64(3)])
                T.writes(compute_intermediate_intermediate[T.int64(0):T.int64(3)])
                T.sblock_attr({"kernel": True})
                T_strided_slice_with_axes_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(3)))
                T_squeeze_intermediate = T.sblock_alloc_buffer((T.int64(3),))
                T_add_intermediate = T.sblock_alloc_buffer((T.int64(3),))
                for ax0, ax1 in T.grid(T.int64(1), T.int64(3)):
                    with T.sblock("T_strided_slice_with_axes"):
                        v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                        T.reads(x[v_ax0 + i, v_ax1])
                        T.writes(T_strided_slice_with_axes_intermediate[v_ax0, v_ax1])
                        T_strided_slice_with_axes_intermediate[v_ax0, v_ax1] = x[v_ax0 + i, v_ax1]
                for ax0 in range(T.int64(3)):
                    with T.sblock("T_squeeze"):
                        v_ax0 = T.axis.spatial(T.int64(3), ax0)
                        T.reads(T_strided_slice_with_axes_intermediate[T.int64(0), v_ax0])
                        T.writes(T_squeeze_intermediate[v_ax0])
                        T_squeeze_intermediate[v_ax0] = T_strided_slice_with_axes_intermediate[T.int64(0), v_ax0]
                for ax0 in range(T.int64(3)):
                    with T.sblock("T_add"):
                        v_ax0 = T.axis.spatial(T.int64(3), ax0)
                        T.reads(matmul_intermediate[v_ax0], T_squeeze_intermediate[v_ax0])
                        T.writes(T_add_intermediate[v_ax0])
                        T_add_intermediate[v_ax0] = matmul_intermediate[v_ax0] + T_squeeze_intermediate[v_ax0]
                for i0 in range(T.int64(3)):
                    with T.sblock("compute"):
                        v_i0 = T.axis.spatial(T.int64(3), i0)
                        T.reads(T_add_intermediate[v_i0])
                        T.writes(compute_intermediate_intermediate[v_i0])
                        compute_intermediate_intermediate[v_i0] = T.tanh(T_add_intermediate[v_i0])
            with T.sblock("multiply"):
                T.reads(compute_intermediate_intermediate[T.int64(0):T.int64(3)])
                T.writes(T_multiply_intermediate[T.int64(0):T.int64(3)])
                T.sblock_attr({"kernel": True})
                for ax0 in range(T.int64(3)):
                    with T.sblock("T_multiply"):
                        v_ax0 = T.axis.spatial(T.int64(3), ax0)
                        T.reads(compute_intermediate_intermediate[v_ax0])
                        T.writes(T_multiply_intermediate[v_ax0])
                        T_multiply_intermediate[v_ax0] = compute_intermediate_intermediate[v_ax0] * T.float32(2.0)
            with T.sblock("state_0_goes_on_kernel"):
                T.reads(compute_intermediate_intermediate[T.int64(0):T.int64(3)])
                T.writes(a[T.int64(0):T.int64(3)])
                T.sblock_attr({"kernel": True})
                for ax0 in range(T.int64(3)):
                    with T.sblock("state_0_goes_on"):
                        v_ax0 = T.axis.spatial(T.int64(3), ax0)
                        T.reads(compute_intermediate_intermediate[v_ax0])
                        T.writes(a[v_ax0])
                        a[v_ax0] = compute_intermediate_intermediate[v_ax0]
            with T.sblock("row_0_kernel"):
                T.reads(T_multiply_intermediate[T.int64(0):T.int64(3)])
                T.writes(rows_0[T.int64(0):trips, T.int64(0):T.int64(3)])
                T.sblock_attr({"kernel": True})
                for ax0 in range(T.int64(3)):
                    with T.sblock("row_0"):
                        v_ax0 = T.axis.spatial(T.int64(3), ax0)
                        T.reads(T_multiply_intermediate[v_ax0])
                        T.writes(rows_0[i, v_ax0])
                        rows_0[i, v_ax0] = T_multiply_intermediate[v_ax0]
        with T.sblock("state_0_ends_kernel"):
            T.reads(a[T.int64(0):T.int64(3)])
            T.writes(state_0_last[T.int64(0):T.int64(3)])
            T.sblock_attr({"kernel": True})
            for ax0 in range(T.int64(3)):
                with T.sblock("state_0_ends"):
                    v_ax0 = T.axis.spatial(T.int64(3), ax0)
                    T.reads(a[v_ax0])
                    T.writes(state_0_last[v_ax0])
                    state_0_last[v_ax0] = a[v_ax0]

    @R.function
    def main(x: R.Tensor((n, 3), dtype="float32"), w: R.Tensor((3, 3), dtype="float32"), s: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((n, 3), dtype="float32")):
        cls = Module
        with R.dataflow():
            r = R.call_tir(cls.loop_of_main_step, (s, x, w), out_ty=[R.Tensor((3,), dtype="float32"), R.Tensor((n, 3), dtype="float32")], tir_vars=R.shape([n]))
            last: R.Tensor((3,), dtype="float32") = r[0]
            rows: R.Tensor((n, 3), dtype="float32") = r[1]
            R.output(last, rows)
        return (last, rows)
