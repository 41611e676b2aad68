# run: FuseOps(fuse_opt_level=2)
# config: tvm_compat=true
# A tuple between a convolution and its activation ends the group, even if the field that is used is known.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), c: T.Buffer((T.int64(4), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(u0: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32"), c: R.Tensor((4, 1, 1), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            b = R.call_tir(cls.add, (a, c), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            u: R.Tuple(R.Tensor((1, 4, 8, 8), dtype="float32"), R.Tensor((4, 1, 1), dtype="float32")) = b, c
            u0: R.Tensor((1, 4, 8, 8), dtype="float32") = u[0]
            gv = R.call_tir(cls.relu, (u0,), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
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
    def add(a: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), c: T.Buffer((T.int64(4), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(u0: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_conv2d_add(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32"), c: R.Tensor((4, 1, 1), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            b = R.call_tir(cls.add, (a, c), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            R.output(b)
        return b

    @R.function(private=True)
    def fused_relu(u_0: R.Tensor((1, 4, 8, 8), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.relu, (u_0,), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32"), c: R.Tensor((4, 1, 1), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((1, 4, 8, 8), dtype="float32") = cls.fused_conv2d_add(x, w, c)
            u: R.Tuple(R.Tensor((1, 4, 8, 8), dtype="float32"), R.Tensor((4, 1, 1), dtype="float32")) = b, c
            u_0: R.Tensor((1, 4, 8, 8), dtype="float32") = u[0]
            gv: R.Tensor((1, 4, 8, 8), dtype="float32") = cls.fused_relu(u_0)
            R.output(gv)
        return gv
