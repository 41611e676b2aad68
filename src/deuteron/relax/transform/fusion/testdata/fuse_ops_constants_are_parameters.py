# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        with R.dataflow():
            a = R.multiply(x, R.const([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "float32"))
            gv = R.add(a, R.const([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "float32"))
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
    def add(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), B: T.Buffer((T.int64(8),), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1], B[v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = a[v_ax0, v_ax1] + B[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), B: T.Buffer((T.int64(8),), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], B[v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * B[v_ax1]

    @R.function(private=True)
    def fused_multiply_add(x: R.Tensor((4, 8), dtype="float32"), param_0: R.Tensor((8,), dtype="float32"), param_1: R.Tensor((8,), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.multiply, (x, param_0), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.add, (a, param_1), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((4, 8), dtype="float32") = cls.fused_multiply_add(x, metadata["ir.GenericConst"][0], metadata["ir.GenericConst"][1])
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [8], "data": "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEE="},
    {"dtype": "float32", "shape": [8], "data": "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEE="},
]}
