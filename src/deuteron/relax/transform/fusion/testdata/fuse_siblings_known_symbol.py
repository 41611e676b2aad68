# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions,FuseSiblings
# target: llvm -mcpu=x86-64-v4 -threads=1
# expect: changes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32")):
        n = T.int64()
        with R.dataflow():
            positive = R.nn.relu(x)
            same = R.match_cast(positive, R.Tensor((n, 64), "float32"))
            square = R.multiply(x, x)
            total = R.sum(square, keepdims=True)
            R.output(same, total)
        return (same, total)
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
    def multiply(x: T.Buffer((n, T.int64(64)), "float32"), x_1: T.Buffer((n, T.int64(64)), "float32"), T_multiply: T.Buffer((n, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(n, T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], x_1[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * x_1[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def relu(x: T.Buffer((n, T.int64(64)), "float32"), compute: T.Buffer((n, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(n, T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(x[v_i0, v_i1], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def sum(square: T.Buffer((n, T.int64(64)), "float32"), square_red: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k0, k1 in T.grid(T.int64(1), T.int64(1), n, T.int64(64)):
            with T.sblock("square_red"):
                v_ax0, v_ax1, v_k0, v_k1 = T.axis.remap("SSRR", [ax0, ax1, k0, k1])
                T.reads(square[v_k0, v_k1])
                T.writes(square_red[v_ax0, v_ax1])
                with T.init():
                    square_red[v_ax0, v_ax1] = T.float32(0.0)
                square_red[v_ax0, v_ax1] = square_red[v_ax0, v_ax1] + square[v_k0, v_k1]

    @R.function(private=True)
    def fused_multiply_sum(x: R.Tensor((n, 64), dtype="float32")) -> R.Tensor((1, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            square = R.call_tir(cls.multiply, (x, x), out_ty=R.Tensor((n, 64), dtype="float32"))
            total = R.call_tir(cls.sum, (square,), out_ty=R.Tensor((1, 1), dtype="float32"))
            R.output(total)
        return total

    @R.function(private=True)
    def fused_relu_multiply_sum(x: R.Tensor((n, 64), dtype="float32")) -> R.Tuple(R.Tensor((1, 1), dtype="float32"), R.Tensor((n, 64), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            positive = R.call_tir(cls.relu, (x,), out_ty=R.Tensor((n, 64), dtype="float32"))
            square = R.call_tir(cls.multiply, (x, x), out_ty=R.Tensor((n, 64), dtype="float32"))
            total = R.call_tir(cls.sum, (square,), out_ty=R.Tensor((1, 1), dtype="float32"))
            R.output(positive, total)
        return (total, positive)

    @R.function
    def main(x: R.Tensor((n, 64), dtype="float32")) -> R.Tuple(R.Tensor((n, 64), dtype="float32"), R.Tensor((1, 1), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv: R.Tuple(R.Tensor((1, 1), dtype="float32"), R.Tensor((n, 64), dtype="float32")) = cls.fused_relu_multiply_sum(x)
            positive: R.Tensor((n, 64), dtype="float32") = gv[1]
            total: R.Tensor((1, 1), dtype="float32") = gv[0]
            same: R.Tensor((n, 64), dtype="float32") = R.match_cast(positive, R.Tensor((n, 64), dtype="float32"))
            R.output(gv, total, same)
        return (same, total)
