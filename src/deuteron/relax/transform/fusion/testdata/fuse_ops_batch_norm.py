# run: FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(lv2: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def add1(lv7: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv8: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def divide(lv1: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv4: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_divide: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def expand_dims(c: T.Buffer((T.int64(4),), "float32"), expand_dims: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 1})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(lv5: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv6: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(lv9: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def subtract(a: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_sqrt(lv3: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32"), c: R.Tensor((4,), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv1 = R.call_tir(cls.subtract, (a, lv), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv2 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv3 = R.call_tir(cls.add, (lv2,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv4 = R.call_tir(cls.tir_sqrt, (lv3,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv5 = R.call_tir(cls.divide, (lv1, lv4), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv6 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv7 = R.call_tir(cls.multiply, (lv5, lv6), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv8 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv9 = R.call_tir(cls.add1, (lv7, lv8), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            gv = R.call_tir(cls.relu, (lv9,), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
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
    def add(lv2: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def add1(lv7: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv8: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def divide(lv1: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv4: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_divide: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def expand_dims(c: T.Buffer((T.int64(4),), "float32"), expand_dims: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 1})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def multiply(lv5: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv6: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_multiply: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(lv9: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def subtract(a: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), lv: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), T_subtract: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_sqrt(lv3: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32"), compute: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_conv2d_expand_dims_subtract_expand_dims_add_tir_sqrt_divide_expand_dims_multiply_expand_dims_add1_relu(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32"), c: R.Tensor((4,), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv1 = R.call_tir(cls.subtract, (a, lv), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv2 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv3 = R.call_tir(cls.add, (lv2,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv4 = R.call_tir(cls.tir_sqrt, (lv3,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv5 = R.call_tir(cls.divide, (lv1, lv4), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv6 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv7 = R.call_tir(cls.multiply, (lv5, lv6), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            lv8 = R.call_tir(cls.expand_dims, (c,), out_ty=R.Tensor((1, 4, 1, 1), dtype="float32"))
            lv9 = R.call_tir(cls.add1, (lv7, lv8), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            gv = R.call_tir(cls.relu, (lv9,), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32"), c: R.Tensor((4,), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((1, 4, 8, 8), dtype="float32") = cls.fused_conv2d_expand_dims_subtract_expand_dims_add_tir_sqrt_divide_expand_dims_multiply_expand_dims_add1_relu(x, w, c)
            R.output(gv)
        return gv
