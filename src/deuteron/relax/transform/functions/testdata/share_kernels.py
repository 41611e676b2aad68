# run: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ShareKernels
# config: expected_runs=1
# expect: changes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), y: R.Tensor((4, 8), "float32"), z: R.Tensor((4, 9), "float32"), c: R.Tensor((), "bool")):
        with R.dataflow():
            # One number of each twice, one for both.
            a = R.multiply(R.add(R.multiply(x, R.const(0.25, "float32")), R.const(0.25, "float32")), R.const(3.0, "float32"))
            b = R.multiply(R.add(R.multiply(y, R.const(0.75, "float32")), R.const(0.75, "float32")), R.const(3.0, "float32"))
            # Of another shape, and another operation.
            d = R.multiply(R.add(R.multiply(z, R.const(0.5, "float32")), R.const(0.5, "float32")), R.const(3.0, "float32"))
            e = R.multiply(R.subtract(R.multiply(x, R.const(0.5, "float32")), R.const(0.5, "float32")), R.const(3.0, "float32"))
            R.output(a, b, d, e)
        if c:
            f = R.clip(a, -1.0, 1.0)
        else:
            f = R.clip(e, -2.0, 1.0)
        return (a, b, d, e, f)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_multiply3_add2_multiply4(z: T.Buffer((T.int64(4), T.int64(9)), "float32"), T_multiply_intermediate_1: T.Buffer((T.int64(4), T.int64(9)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_multiply_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(9)))
        T_add_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(9)))
        for ax0, ax1 in T.grid(T.int64(4), T.int64(9)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(z[v_ax0, v_ax1])
                T.writes(T_multiply_intermediate[v_ax0, v_ax1])
                T_multiply_intermediate[v_ax0, v_ax1] = z[v_ax0, v_ax1] * T.float32(0.5)
        for ax0, ax1 in T.grid(T.int64(4), T.int64(9)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_multiply_intermediate[v_ax0, v_ax1])
                T.writes(T_add_intermediate[v_ax0, v_ax1])
                T_add_intermediate[v_ax0, v_ax1] = T_multiply_intermediate[v_ax0, v_ax1] + T.float32(0.5)
        for ax0, ax1 in T.grid(T.int64(4), T.int64(9)):
            with T.sblock("T_multiply1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_add_intermediate[v_ax0, v_ax1])
                T.writes(T_multiply_intermediate_1[v_ax0, v_ax1])
                T_multiply_intermediate_1[v_ax0, v_ax1] = T_add_intermediate[v_ax0, v_ax1] * T.float32(3.0)

    @T.prim_func(private=True, s_tir=True)
    def fused_multiply5_subtract_multiply1(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_multiply_intermediate_1: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_multiply_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(8)))
        T_subtract_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(8)))
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(T_multiply_intermediate[v_ax0, v_ax1])
                T_multiply_intermediate[v_ax0, v_ax1] = x[v_ax0, v_ax1] * T.float32(0.5)
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_subtract"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_multiply_intermediate[v_ax0, v_ax1])
                T.writes(T_subtract_intermediate[v_ax0, v_ax1])
                T_subtract_intermediate[v_ax0, v_ax1] = T_multiply_intermediate[v_ax0, v_ax1] - T.float32(0.5)
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_multiply1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_subtract_intermediate[v_ax0, v_ax1])
                T.writes(T_multiply_intermediate_1[v_ax0, v_ax1])
                T_multiply_intermediate_1[v_ax0, v_ax1] = T_subtract_intermediate[v_ax0, v_ax1] * T.float32(3.0)

    @T.prim_func(private=True, s_tir=True)
    def fused_multiply_add_multiply1(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), number_0: T.Buffer((), "float32"), T_multiply_intermediate_1: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_multiply_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(8)))
        T_add_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(8)))
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], number_0[()])
                T.writes(T_multiply_intermediate[v_ax0, v_ax1])
                T_multiply_intermediate[v_ax0, v_ax1] = x[v_ax0, v_ax1] * number_0[()]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_multiply_intermediate[v_ax0, v_ax1], number_0[()])
                T.writes(T_add_intermediate[v_ax0, v_ax1])
                T_add_intermediate[v_ax0, v_ax1] = T_multiply_intermediate[v_ax0, v_ax1] + number_0[()]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_multiply1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_add_intermediate[v_ax0, v_ax1])
                T.writes(T_multiply_intermediate_1[v_ax0, v_ax1])
                T_multiply_intermediate_1[v_ax0, v_ax1] = T_add_intermediate[v_ax0, v_ax1] * T.float32(3.0)

    @T.prim_func(private=True, s_tir=True)
    def tir_clip(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), number_0: T.Buffer((), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1], number_0[()])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(T.min(a[v_i0, v_i1], T.float32(1.0)), number_0[()])

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((4, 8), dtype="float32"), z: R.Tensor((4, 9), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 9), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.fused_multiply_add_multiply1, (x, R.const(0.25, "float32")), out_ty=R.Tensor((4, 8), dtype="float32"))
            b = R.call_tir(cls.fused_multiply_add_multiply1, (y, R.const(0.75, "float32")), out_ty=R.Tensor((4, 8), dtype="float32"))
            d = R.call_tir(cls.fused_multiply3_add2_multiply4, (z,), out_ty=R.Tensor((4, 9), dtype="float32"))
            e = R.call_tir(cls.fused_multiply5_subtract_multiply1, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(a, b, d, e)
        if c:
            f_then = R.call_tir(cls.tir_clip, (a, R.const(-1.0, "float32")), out_ty=R.Tensor((4, 8), dtype="float32"))
            f: R.Tensor((4, 8), dtype="float32") = f_then
        else:
            f_else = R.call_tir(cls.tir_clip, (e, R.const(-2.0, "float32")), out_ty=R.Tensor((4, 8), dtype="float32"))
            f: R.Tensor((4, 8), dtype="float32") = f_else
        return (a, b, d, e, f)
