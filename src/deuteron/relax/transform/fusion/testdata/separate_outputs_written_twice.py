# run: SeparateOutputs
# expect: no changes
# The first nest writes both results: neither kernel alone would know them.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def both(x: T.Buffer((T.int64(4), T.int64(6)), "float32"), a: T.Buffer((T.int64(4), T.int64(6)), "float32"), b: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("a"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(a[v_ax0, v_ax1])
                a[v_ax0, v_ax1] = x[v_ax0, v_ax1]
            with T.sblock("b"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(b[v_ax0, v_ax1])
                b[v_ax0, v_ax1] = x[v_ax0, v_ax1] + T.float32(1.0)
        for ax0, ax1 in T.grid(T.int64(4), T.int64(3)):
            with T.sblock("b_half"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(b[v_ax0, v_ax1])
                b[v_ax0, v_ax1] = x[v_ax0, v_ax1] + T.float32(2.0)

    @R.function
    def main(x: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.both, (x,), out_ty=[R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")])
            gv: R.Tensor((4, 6), dtype="float32") = lv[1]
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
    def both(x: T.Buffer((T.int64(4), T.int64(6)), "float32"), a: T.Buffer((T.int64(4), T.int64(6)), "float32"), b: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("a"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(a[v_ax0, v_ax1])
                a[v_ax0, v_ax1] = x[v_ax0, v_ax1]
            with T.sblock("b"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(b[v_ax0, v_ax1])
                b[v_ax0, v_ax1] = x[v_ax0, v_ax1] + T.float32(1.0)
        for ax0, ax1 in T.grid(T.int64(4), T.int64(3)):
            with T.sblock("b_half"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1])
                T.writes(b[v_ax0, v_ax1])
                b[v_ax0, v_ax1] = x[v_ax0, v_ax1] + T.float32(2.0)

    @R.function
    def main(x: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.both, (x,), out_ty=[R.Tensor((4, 6), dtype="float32"), R.Tensor((4, 6), dtype="float32")])
            gv: R.Tensor((4, 6), dtype="float32") = lv[1]
            R.output(gv)
        return gv
