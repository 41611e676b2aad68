# run: FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def relu(d: T.Buffer((T.int64(4), T.int64(16)), "float32"), compute: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def take(b: T.Buffer((T.int64(8), T.int64(16)), "float32"), i: T.Buffer((T.int64(4),), "int64"), T_take: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 8})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(8), T.int64(16)), "float32"), compute: T.Buffer((T.int64(8), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(c: T.Buffer((T.int64(4), T.int64(16)), "float32"), compute: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(a: T.Buffer((T.int64(8), T.int64(16)), "float32"), compute: T.Buffer((T.int64(8), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((8, 16), dtype="float32"), i: R.Tensor((4,), dtype="int64")) -> R.Tensor((4, 16), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((8, 16), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (a,), out_ty=R.Tensor((8, 16), dtype="float32"))
            c = R.call_tir(cls.take, (b, i), out_ty=R.Tensor((4, 16), dtype="float32"))
            d = R.call_tir(cls.tir_negative, (c,), out_ty=R.Tensor((4, 16), dtype="float32"))
            gv = R.call_tir(cls.relu, (d,), out_ty=R.Tensor((4, 16), dtype="float32"))
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
    def relu(d: T.Buffer((T.int64(4), T.int64(16)), "float32"), compute: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def take(b: T.Buffer((T.int64(8), T.int64(16)), "float32"), i: T.Buffer((T.int64(4),), "int64"), T_take: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 8})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(8), T.int64(16)), "float32"), compute: T.Buffer((T.int64(8), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(c: T.Buffer((T.int64(4), T.int64(16)), "float32"), compute: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(a: T.Buffer((T.int64(8), T.int64(16)), "float32"), compute: T.Buffer((T.int64(8), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_tir_exp_tir_tanh(x: R.Tensor((8, 16), dtype="float32")) -> R.Tensor((8, 16), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((8, 16), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (a,), out_ty=R.Tensor((8, 16), dtype="float32"))
            R.output(b)
        return b

    @R.function(private=True)
    def fused_tir_negative_relu(c: R.Tensor((4, 16), dtype="float32")) -> R.Tensor((4, 16), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            d = R.call_tir(cls.tir_negative, (c,), out_ty=R.Tensor((4, 16), dtype="float32"))
            gv = R.call_tir(cls.relu, (d,), out_ty=R.Tensor((4, 16), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((8, 16), dtype="float32"), i: R.Tensor((4,), dtype="int64")) -> R.Tensor((4, 16), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((8, 16), dtype="float32") = cls.fused_tir_exp_tir_tanh(x)
            c = R.call_tir(cls.take, (b, i), out_ty=R.Tensor((4, 16), dtype="float32"))
            gv: R.Tensor((4, 16), dtype="float32") = cls.fused_tir_negative_relu(c)
            R.output(gv)
        return gv
