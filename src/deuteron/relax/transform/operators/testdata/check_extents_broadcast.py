# run: CheckExtents,LegalizeOps
# What may be 1 at run time or all of the dimension that it is broadcast to: which of both is checked, and read.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m", 4), "float32"), y: R.Tensor(("n",), "float32")):
        m = T.int64()
        with R.dataflow():
            rows = R.broadcast_to(x, R.shape([3, 4]))
            wide = R.broadcast_to(y, R.shape([2, m]))
            same = R.broadcast_to(x, R.shape([2, m, 4]))
            R.output(rows, wide, same)
        return (rows, wide, same)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def broadcast_to(argument_0_of_broadcast_to: T.Buffer((m, T.int64(4)), "float32"), T_broadcast_to: T.Buffer((T.int64(3), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(3), T.int64(4)):
            with T.sblock("T_broadcast_to"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(argument_0_of_broadcast_to[T.Select(m == T.int64(1), T.int64(0), v_ax0), v_ax1])
                T.writes(T_broadcast_to[v_ax0, v_ax1])
                T_broadcast_to[v_ax0, v_ax1] = argument_0_of_broadcast_to[T.Select(m == T.int64(1), T.int64(0), v_ax0), v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def broadcast_to1(argument_0_of_broadcast_to: T.Buffer((n,), "float32"), T_broadcast_to: T.Buffer((T.int64(2), m), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(2), m):
            with T.sblock("T_broadcast_to"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(argument_0_of_broadcast_to[T.Select(n == T.int64(1), T.int64(0), v_ax1)])
                T.writes(T_broadcast_to[v_ax0, v_ax1])
                T_broadcast_to[v_ax0, v_ax1] = argument_0_of_broadcast_to[T.Select(n == T.int64(1), T.int64(0), v_ax1)]

    @T.prim_func(private=True, s_tir=True)
    def broadcast_to2(x: T.Buffer((m, T.int64(4)), "float32"), T_broadcast_to: T.Buffer((T.int64(2), m, T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(T.int64(2), m, T.int64(4)):
            with T.sblock("T_broadcast_to"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(x[v_ax1, v_ax2])
                T.writes(T_broadcast_to[v_ax0, v_ax1, v_ax2])
                T_broadcast_to[v_ax0, v_ax1, v_ax2] = x[v_ax1, v_ax2]

    @R.function
    def main(x: R.Tensor((m, 4), dtype="float32"), y: R.Tensor((n,), dtype="float32")) -> R.Tuple(R.Tensor((3, 4), dtype="float32"), R.Tensor((2, m), dtype="float32"), R.Tensor((2, m, 4), dtype="float32")):
        cls = Module
        with R.dataflow():
            argument_0_of_broadcast_to: R.Tensor((T.Select(m == 1, 1, 3), 4), dtype="float32") = R.match_cast(x, R.Tensor((T.Select(m == 1, 1, 3), 4), dtype="float32"))
            argument_0_of_broadcast_to_1: R.Tensor((m, 4), dtype="float32") = R.match_cast(argument_0_of_broadcast_to, R.Tensor((m, 4), dtype="float32"))
            rows = R.call_tir(cls.broadcast_to, (argument_0_of_broadcast_to_1,), out_ty=R.Tensor((3, 4), dtype="float32"))
            argument_0_of_broadcast_to_2: R.Tensor((T.Select(n == 1, 1, m),), dtype="float32") = R.match_cast(y, R.Tensor((T.Select(n == 1, 1, m),), dtype="float32"))
            argument_0_of_broadcast_to_3: R.Tensor((n,), dtype="float32") = R.match_cast(argument_0_of_broadcast_to_2, R.Tensor((n,), dtype="float32"))
            wide = R.call_tir(cls.broadcast_to1, (argument_0_of_broadcast_to_3,), out_ty=R.Tensor((2, m), dtype="float32"))
            same = R.call_tir(cls.broadcast_to2, (x,), out_ty=R.Tensor((2, m, 4), dtype="float32"))
            R.output(rows, wide, same)
        return (rows, wide, same)
