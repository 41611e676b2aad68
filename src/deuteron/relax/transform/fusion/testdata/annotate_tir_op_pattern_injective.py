# run: AnnotateTIROpPattern
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def concatenate(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), x_1: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_concat: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(8), T.int64(8)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x_1[v_ax0 - T.int64(4), v_ax1], x[v_ax0, v_ax1])
                T.writes(T_concat[v_ax0, v_ax1])
                T_concat[v_ax0, v_ax1] = T.if_then_else(T.int64(4) <= v_ax0, x_1[v_ax0 - T.int64(4), v_ax1], x[v_ax0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def flip(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_reverse_sequence: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_reverse_sequence"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[T.int64(3) - v_ax0, v_ax1])
                T.writes(T_reverse_sequence[v_ax0, v_ax1])
                T_reverse_sequence[v_ax0, v_ax1] = x[T.int64(3) - v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_transpose: T.Buffer((T.int64(8), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(8), T.int64(4)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = x[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tuple(R.Tensor((8, 4), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((8, 4), dtype="float32"))
            gv1 = R.call_tir(cls.flip, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv2 = R.call_tir(cls.concatenate, (x, x), out_ty=R.Tensor((8, 8), dtype="float32"))
            R.output(gv, gv1, gv2)
        return (gv, gv1, gv2)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def concatenate(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), x_1: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_concat: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(8), T.int64(8)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x_1[v_ax0 - T.int64(4), v_ax1], x[v_ax0, v_ax1])
                T.writes(T_concat[v_ax0, v_ax1])
                T_concat[v_ax0, v_ax1] = T.if_then_else(T.int64(4) <= v_ax0, x_1[v_ax0 - T.int64(4), v_ax1], x[v_ax0, v_ax1])

    @T.prim_func(private=True, s_tir=True)
    def flip(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_reverse_sequence: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_reverse_sequence"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[T.int64(3) - v_ax0, v_ax1])
                T.writes(T_reverse_sequence[v_ax0, v_ax1])
                T_reverse_sequence[v_ax0, v_ax1] = x[T.int64(3) - v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_transpose: T.Buffer((T.int64(8), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(8), T.int64(4)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = x[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tuple(R.Tensor((8, 4), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((8, 4), dtype="float32"))
            gv1 = R.call_tir(cls.flip, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv2 = R.call_tir(cls.concatenate, (x, x), out_ty=R.Tensor((8, 8), dtype="float32"))
            R.output(gv, gv1, gv2)
        return (gv, gv1, gv2)
