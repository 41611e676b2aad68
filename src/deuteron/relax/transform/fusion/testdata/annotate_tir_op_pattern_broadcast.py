# run: AnnotateTIROpPattern
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(4), T.int64(1)), "float32"), y: T.Buffer((T.int64(1), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, T.int64(0)], y[T.int64(0), v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, T.int64(0)] + y[T.int64(0), v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def expand_dims(x: T.Buffer((T.int64(4), T.int64(1)), "float32"), expand_dims: T.Buffer((T.int64(1), T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i0, i1, i2 in T.grid(T.int64(1), T.int64(4), T.int64(1)):
            with T.sblock("expand_dims"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(x[v_i1, v_i2])
                T.writes(expand_dims[v_i0, v_i1, v_i2])
                expand_dims[v_i0, v_i1, v_i2] = x[v_i1, v_i2]

    @R.function
    def main(x: R.Tensor((4, 1), dtype="float32"), y: R.Tensor((1, 8), dtype="float32")) -> R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((1, 4, 1), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.add, (x, y), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv1 = R.call_tir(cls.expand_dims, (x,), out_ty=R.Tensor((1, 4, 1), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(4), T.int64(1)), "float32"), y: T.Buffer((T.int64(1), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 1, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, T.int64(0)], y[T.int64(0), v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, T.int64(0)] + y[T.int64(0), v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def expand_dims(x: T.Buffer((T.int64(4), T.int64(1)), "float32"), expand_dims: T.Buffer((T.int64(1), T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 1, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2 in T.grid(T.int64(1), T.int64(4), T.int64(1)):
            with T.sblock("expand_dims"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(x[v_i1, v_i2])
                T.writes(expand_dims[v_i0, v_i1, v_i2])
                expand_dims[v_i0, v_i1, v_i2] = x[v_i1, v_i2]

    @R.function
    def main(x: R.Tensor((4, 1), dtype="float32"), y: R.Tensor((1, 8), dtype="float32")) -> R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((1, 4, 1), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.add, (x, y), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv1 = R.call_tir(cls.expand_dims, (x,), out_ty=R.Tensor((1, 4, 1), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
