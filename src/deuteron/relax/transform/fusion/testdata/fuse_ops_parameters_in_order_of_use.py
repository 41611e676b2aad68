# run: FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(z: T.Buffer((T.int64(4), T.int64(8)), "float32"), x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), y: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def subtract(b: T.Buffer((T.int64(4), T.int64(8)), "float32"), z: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((4, 8), dtype="float32"), z: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (z, x), out_ty=R.Tensor((4, 8), dtype="float32"))
            b = R.call_tir(cls.multiply, (a, y), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.subtract, (b, z), out_ty=R.Tensor((4, 8), dtype="float32"))
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
    def add(z: T.Buffer((T.int64(4), T.int64(8)), "float32"), x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), y: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_multiply: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def subtract(b: T.Buffer((T.int64(4), T.int64(8)), "float32"), z: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_subtract: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_add_multiply_subtract(z: R.Tensor((4, 8), dtype="float32"), x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (z, x), out_ty=R.Tensor((4, 8), dtype="float32"))
            b = R.call_tir(cls.multiply, (a, y), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.subtract, (b, z), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((4, 8), dtype="float32"), z: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((4, 8), dtype="float32") = cls.fused_add_multiply_subtract(z, x, y)
            R.output(gv)
        return gv
