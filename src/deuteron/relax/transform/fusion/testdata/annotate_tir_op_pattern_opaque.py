# run: AnnotateTIROpPattern
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def take(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), i: T.Buffer((T.int64(3),), "int64"), T_take: T.Buffer((T.int64(3), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(3), T.int64(8)):
            with T.sblock("T_take"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[T.int64(0):T.int64(4), v_ax1], i[v_ax0])
                T.writes(T_take[v_ax0, v_ax1])
                T_take[v_ax0, v_ax1] = x[i[v_ax0], v_ax1]

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), i: R.Tensor((3,), dtype="int64")) -> R.Tensor((3, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.take, (x, i), out_ty=R.Tensor((3, 8), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def take(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), i: T.Buffer((T.int64(3),), "int64"), T_take: T.Buffer((T.int64(3), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(3), T.int64(8)):
            with T.sblock("T_take"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[T.int64(0):T.int64(4), v_ax1], i[v_ax0])
                T.writes(T_take[v_ax0, v_ax1])
                T_take[v_ax0, v_ax1] = x[i[v_ax0], v_ax1]

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), i: R.Tensor((3,), dtype="int64")) -> R.Tensor((3, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.take, (x, i), out_ty=R.Tensor((3, 8), dtype="float32"))
            R.output(gv)
        return gv
