# run: FuseOps(relay_rules=true)
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def concatenate(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_concat: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(b: T.Buffer((T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            b = R.call_tir(cls.concatenate, (a, x), out_ty=R.Tensor((8, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_negative, (b,), out_ty=R.Tensor((8, 8), dtype="float32"))
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
    def concatenate(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), x: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_concat: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(b: T.Buffer((T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_tir_exp_concatenate_tir_negative(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            b = R.call_tir(cls.concatenate, (a, x), out_ty=R.Tensor((8, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_negative, (b,), out_ty=R.Tensor((8, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((8, 8), dtype="float32") = cls.fused_tir_exp_concatenate_tir_negative(x)
            R.output(gv)
        return gv
