# run: LambdaLift,ConvertToDataflow,LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,FuseLoops
# config: tvm_compat=true
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5, 3), "float32"), w: R.Tensor((3, 3), "float32"), s: R.Tensor((3,), "float32")):
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

            r = R.loop(step, 5, (s,), ty_args=(R.Tuple(R.Tensor((3,), "float32"), R.Tensor((5, 3), "float32")),))
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

i = TypeVar("i")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_squeeze_add_tir_tanh(row: T.Buffer((T.int64(1), T.int64(3)), "float32"), lv: T.Buffer((T.int64(3),), "float32"), compute_intermediate: T.Buffer((T.int64(3),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_squeeze_intermediate = T.sblock_alloc_buffer((T.int64(3),))
        T_add_intermediate = T.sblock_alloc_buffer((T.int64(3),))
        for ax0 in range(T.int64(3)):
            with T.sblock("T_squeeze"):
                v_ax0 = T.axis.spatial(T.int64(3), ax0)
                T.reads(row[T.int64(0), v_ax0])
                T.writes(T_squeeze_intermediate[v_ax0])
                T_squeeze_intermediate[v_ax0] = row[T.int64(0), v_ax0]
        for ax0 in range(T.int64(3)):
            with T.sblock("T_add"):
                v_ax0 = T.axis.spatial(T.int64(3), ax0)
                T.reads(lv[v_ax0], T_squeeze_intermediate[v_ax0])
                T.writes(T_add_intermediate[v_ax0])
                T_add_intermediate[v_ax0] = lv[v_ax0] + T_squeeze_intermediate[v_ax0]
        for i0 in range(T.int64(3)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(3), i0)
                T.reads(T_add_intermediate[v_i0])
                T.writes(compute_intermediate[v_i0])
                compute_intermediate[v_i0] = T.tanh(T_add_intermediate[v_i0])

    @T.prim_func(private=True, s_tir=True)
    def matmul(a: T.Buffer((T.int64(3),), "float32"), w: T.Buffer((T.int64(3), T.int64(3)), "float32"), matmul: T.Buffer((T.int64(3),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, k in T.grid(T.int64(3), T.int64(3)):
            with T.sblock("matmul"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(a[v_k], w[v_k, v_i0])
                T.writes(matmul[v_i0])
                with T.init():
                    matmul[v_i0] = T.float32(0.0)
                matmul[v_i0] = matmul[v_i0] + a[v_k] * w[v_k, v_i0]

    @T.prim_func(private=True, s_tir=True)
    def multiply(b: T.Buffer((T.int64(3),), "float32"), T_multiply: T.Buffer((T.int64(3),), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(T.int64(3)):
            with T.sblock("T_multiply"):
                v_ax0 = T.axis.spatial(T.int64(3), ax0)
                T.reads(b[v_ax0])
                T.writes(T_multiply[v_ax0])
                T_multiply[v_ax0] = b[v_ax0] * T.float32(2.0)

    @T.prim_func(private=True, s_tir=True)
    def strided_slice(x: T.Buffer((T.int64(5), T.int64(3)), "float32"), T_strided_slice_with_axes: T.Buffer((T.int64(1), T.int64(3)), "float32"), i: T.int64):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(1), T.int64(3)):
            with T.sblock("T_strided_slice_with_axes"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0 + i, v_ax1])
                T.writes(T_strided_slice_with_axes[v_ax0, v_ax1])
                T_strided_slice_with_axes[v_ax0, v_ax1] = x[v_ax0 + i, v_ax1]

    @R.function(private=True)
    def main_step(t: R.Shape([i]), a: R.Tensor((3,), dtype="float32"), x: R.Tensor((5, 3), dtype="float32"), w: R.Tensor((3, 3), dtype="float32")) -> R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((3,), dtype="float32")):
        cls = Module
        with R.dataflow():
            row = R.call_tir(cls.strided_slice, (x,), out_ty=R.Tensor((1, 3), dtype="float32"), tir_vars=R.shape([i]))
            lv = R.call_tir(cls.matmul, (a, w), out_ty=R.Tensor((3,), dtype="float32"))
            b = R.call_tir(cls.fused_squeeze_add_tir_tanh, (row, lv), out_ty=R.Tensor((3,), dtype="float32"))
            c = R.call_tir(cls.multiply, (b,), out_ty=R.Tensor((3,), dtype="float32"))
            R.output(b, c)
        return (b, c)

    @R.function
    def main(x: R.Tensor((5, 3), dtype="float32"), w: R.Tensor((3, 3), dtype="float32"), s: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((5, 3), dtype="float32")):
        cls = Module
        with R.dataflow():
            step: R.Any = R.make_closure(cls.main_step, (x, w))
            r: R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((5, 3), dtype="float32")) = R.loop(step, 5, (s,), ty_args=(R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((5, 3), dtype="float32")),))
            last: R.Tensor((3,), dtype="float32") = r[0]
            rows: R.Tensor((5, 3), dtype="float32") = r[1]
            R.output(last, rows)
        return (last, rows)
