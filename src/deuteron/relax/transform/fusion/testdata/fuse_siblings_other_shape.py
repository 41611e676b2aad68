# run: FuseOps(fuse_opt_level=2),FuseSiblings
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseSiblings a -> b: shapes-differ
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), y: T.Buffer((T.int64(8), T.int64(64), T.int64(64)), "float32"), T_multiply: T.Buffer((T.int64(8), T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1, ax2 in T.grid(T.int64(8), T.int64(64), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T_multiply[v_ax0, v_ax1, v_ax2] = x[v_ax1, v_ax2] * y[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), compute: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((64, 64), dtype="float32"), y: R.Tensor((8, 64, 64), dtype="float32")) -> R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((8, 64, 64), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 64), dtype="float32"))
            b = R.call_tir(cls.multiply, (x, y), out_ty=R.Tensor((8, 64, 64), dtype="float32"))
            R.output(a, b)
        return (a, b)
# ----- expected
# as before: main, multiply, tir_exp
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
