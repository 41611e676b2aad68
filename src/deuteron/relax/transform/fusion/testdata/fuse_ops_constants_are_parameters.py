# run: FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), B: T.Buffer((T.int64(8),), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), B: T.Buffer((T.int64(8),), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.multiply, (x, metadata["ir.GenericConst"][0]), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.add, (a, metadata["ir.GenericConst"][1]), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [8], "data": "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEE="},
    {"dtype": "float32", "shape": [8], "data": "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEE="},
]}
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
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), B: T.Buffer((T.int64(8),), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

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
