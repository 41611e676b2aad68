# run: FuseOps(fuse_opt_level=2),FuseSiblings
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseSiblings g6 -> g7: too-many-streams
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), y0: T.Buffer((T.int64(64), T.int64(64)), "float32"), T_multiply: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * y0[v_ax0, v_ax1]

    @R.function
    def main(x: R.Tensor((64, 64), dtype="float32"), y0: R.Tensor((64, 64), dtype="float32"), y1: R.Tensor((64, 64), dtype="float32"), y2: R.Tensor((64, 64), dtype="float32"), y3: R.Tensor((64, 64), dtype="float32"), y4: R.Tensor((64, 64), dtype="float32"), y5: R.Tensor((64, 64), dtype="float32"), y6: R.Tensor((64, 64), dtype="float32"), y7: R.Tensor((64, 64), dtype="float32"), y8: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32")):
        cls = Module
        with R.dataflow():
            g0 = R.call_tir(cls.multiply, (x, y0), out_ty=R.Tensor((64, 64), dtype="float32"))
            g1 = R.call_tir(cls.multiply, (x, y1), out_ty=R.Tensor((64, 64), dtype="float32"))
            g2 = R.call_tir(cls.multiply, (x, y2), out_ty=R.Tensor((64, 64), dtype="float32"))
            g3 = R.call_tir(cls.multiply, (x, y3), out_ty=R.Tensor((64, 64), dtype="float32"))
            g4 = R.call_tir(cls.multiply, (x, y4), out_ty=R.Tensor((64, 64), dtype="float32"))
            g5 = R.call_tir(cls.multiply, (x, y5), out_ty=R.Tensor((64, 64), dtype="float32"))
            g6 = R.call_tir(cls.multiply, (x, y6), out_ty=R.Tensor((64, 64), dtype="float32"))
            g7 = R.call_tir(cls.multiply, (x, y7), out_ty=R.Tensor((64, 64), dtype="float32"))
            g8 = R.call_tir(cls.multiply, (x, y8), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(g0, g1, g2, g3, g4, g5, g6, g7, g8)
        return (g0, g1, g2, g3, g4, g5, g6, g7, g8)
# ----- expected
# as before: multiply
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_multiply_multiply(x: R.Tensor((64, 64), dtype="float32"), y7: R.Tensor((64, 64), dtype="float32"), y8: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            g7 = R.call_tir(cls.multiply, (x, y7), out_ty=R.Tensor((64, 64), dtype="float32"))
            g8 = R.call_tir(cls.multiply, (x, y8), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(g7, g8)
        return (g7, g8)

    @R.function(private=True)
    def fused_multiply_multiply_multiply_multiply_multiply_multiply_multiply(x: R.Tensor((64, 64), dtype="float32"), y0: R.Tensor((64, 64), dtype="float32"), y1: R.Tensor((64, 64), dtype="float32"), y2: R.Tensor((64, 64), dtype="float32"), y3: R.Tensor((64, 64), dtype="float32"), y4: R.Tensor((64, 64), dtype="float32"), y5: R.Tensor((64, 64), dtype="float32"), y6: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            g0 = R.call_tir(cls.multiply, (x, y0), out_ty=R.Tensor((64, 64), dtype="float32"))
            g1 = R.call_tir(cls.multiply, (x, y1), out_ty=R.Tensor((64, 64), dtype="float32"))
            g2 = R.call_tir(cls.multiply, (x, y2), out_ty=R.Tensor((64, 64), dtype="float32"))
            g3 = R.call_tir(cls.multiply, (x, y3), out_ty=R.Tensor((64, 64), dtype="float32"))
            g4 = R.call_tir(cls.multiply, (x, y4), out_ty=R.Tensor((64, 64), dtype="float32"))
            g5 = R.call_tir(cls.multiply, (x, y5), out_ty=R.Tensor((64, 64), dtype="float32"))
            g6 = R.call_tir(cls.multiply, (x, y6), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(g0, g1, g2, g3, g4, g5, g6)
        return (g0, g1, g2, g3, g4, g5, g6)

    @R.function
    def main(x: R.Tensor((64, 64), dtype="float32"), y0: R.Tensor((64, 64), dtype="float32"), y1: R.Tensor((64, 64), dtype="float32"), y2: R.Tensor((64, 64), dtype="float32"), y3: R.Tensor((64, 64), dtype="float32"), y4: R.Tensor((64, 64), dtype="float32"), y5: R.Tensor((64, 64), dtype="float32"), y6: R.Tensor((64, 64), dtype="float32"), y7: R.Tensor((64, 64), dtype="float32"), y8: R.Tensor((64, 64), dtype="float32")) -> R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32")):
        cls = Module
        with R.dataflow():
            gv: R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32")) = cls.fused_multiply_multiply_multiply_multiply_multiply_multiply_multiply(x, y0, y1, y2, y3, y4, y5, y6)
            g0: R.Tensor((64, 64), dtype="float32") = gv[0]
            g1: R.Tensor((64, 64), dtype="float32") = gv[1]
            g2: R.Tensor((64, 64), dtype="float32") = gv[2]
            g3: R.Tensor((64, 64), dtype="float32") = gv[3]
            g4: R.Tensor((64, 64), dtype="float32") = gv[4]
            g5: R.Tensor((64, 64), dtype="float32") = gv[5]
            g6: R.Tensor((64, 64), dtype="float32") = gv[6]
            gv_1: R.Tuple(R.Tensor((64, 64), dtype="float32"), R.Tensor((64, 64), dtype="float32")) = cls.fused_multiply_multiply(x, y7, y8)
            g7: R.Tensor((64, 64), dtype="float32") = gv_1[0]
            g8: R.Tensor((64, 64), dtype="float32") = gv_1[1]
            R.output(gv, g0, g1, g2, g3, g4, g5, g6, gv_1, g7, g8)
        return (g0, g1, g2, g3, g4, g5, g6, g7, g8)
