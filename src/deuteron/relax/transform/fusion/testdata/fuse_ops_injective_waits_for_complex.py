# run: FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(a: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def reshape(d: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32"), T_reshape: T.Buffer((T.int64(64), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32"), compute: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def transpose(b: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), T_transpose: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor((64, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            b = R.call_tir(cls.relu, (a,), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            c = R.call_tir(cls.transpose, (b,), out_ty=R.Tensor((1, 8, 8, 4), dtype="float32"))
            d = R.call_tir(cls.tir_exp, (c,), out_ty=R.Tensor((1, 8, 8, 4), dtype="float32"))
            gv = R.call_tir(cls.reshape, (d,), out_ty=R.Tensor((64, 4), dtype="float32"))
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
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(a: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def reshape(d: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32"), T_reshape: T.Buffer((T.int64(64), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32"), compute: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def transpose(b: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), T_transpose: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_conv2d_relu(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            b = R.call_tir(cls.relu, (a,), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            R.output(b)
        return b

    @R.function(private=True)
    def fused_transpose_tir_exp_reshape(b: R.Tensor((1, 4, 8, 8), dtype="float32")) -> R.Tensor((64, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.transpose, (b,), out_ty=R.Tensor((1, 8, 8, 4), dtype="float32"))
            d = R.call_tir(cls.tir_exp, (c,), out_ty=R.Tensor((1, 8, 8, 4), dtype="float32"))
            gv = R.call_tir(cls.reshape, (d,), out_ty=R.Tensor((64, 4), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor((64, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((1, 4, 8, 8), dtype="float32") = cls.fused_conv2d_relu(x, w)
            gv: R.Tensor((64, 4), dtype="float32") = cls.fused_transpose_tir_exp_reshape(b)
            R.output(gv)
        return gv
