# run: FuseOps(fuse_opt_level=2),FuseReductions,FuseSiblings
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseSiblings gv -> gv1: not-profitable
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(64), T.int64(128)), "float32"), s: T.Buffer((T.int64(64), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(64), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, v_ax1] + s[v_ax0, T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def multiply(z: T.Buffer((T.int64(64), T.int64(128)), "float32"), s: T.Buffer((T.int64(64), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(64), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T_multiply[v_ax0, v_ax1] = z[v_ax0, v_ax1] * s[v_ax0, T.int64(0)]

    @R.function
    def main(x: R.Tensor((64, 128), dtype="float32"), z: R.Tensor((64, 128), dtype="float32"), s: R.Tensor((64, 1), dtype="float32")) -> R.Tuple(R.Tensor((64, 128), dtype="float32"), R.Tensor((64, 128), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.add, (x, s), out_ty=R.Tensor((64, 128), dtype="float32"))
            gv1 = R.call_tir(cls.multiply, (z, s), out_ty=R.Tensor((64, 128), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# as before: add, main, multiply
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
