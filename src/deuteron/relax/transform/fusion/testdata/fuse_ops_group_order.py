# run: FuseOps(fuse_opt_level=2)
# config: tvm_compat=true
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(m: T.Buffer((T.int64(4), T.int64(4)), "float32"), c: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((T.int64(4), T.int64(4)), "float32"), y: T.Buffer((T.int64(4), T.int64(4)), "float32"), matmul: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 4})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def sum(b: T.Buffer((T.int64(4), T.int64(4)), "float32"), b_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(4)), "float32"), compute: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(a: T.Buffer((T.int64(4), T.int64(4)), "float32"), compute: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), y: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 4), dtype="float32"))
            m = R.call_tir(cls.matmul, (x, y), out_ty=R.Tensor((4, 4), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (a,), out_ty=R.Tensor((4, 4), dtype="float32"))
            c = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((4, 1), dtype="float32"))
            gv = R.call_tir(cls.add, (m, c), out_ty=R.Tensor((4, 4), dtype="float32"))
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
    def add(m: T.Buffer((T.int64(4), T.int64(4)), "float32"), c: T.Buffer((T.int64(4), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((T.int64(4), T.int64(4)), "float32"), y: T.Buffer((T.int64(4), T.int64(4)), "float32"), matmul: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def sum(b: T.Buffer((T.int64(4), T.int64(4)), "float32"), b_red: T.Buffer((T.int64(4), T.int64(1)), "float32")):
        T.func_attr({"op_pattern": 3})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4), T.int64(4)), "float32"), compute: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(a: T.Buffer((T.int64(4), T.int64(4)), "float32"), compute: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_matmul_add(x: R.Tensor((4, 4), dtype="float32"), y: R.Tensor((4, 4), dtype="float32"), c: R.Tensor((4, 1), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.matmul, (x, y), out_ty=R.Tensor((4, 4), dtype="float32"))
            gv = R.call_tir(cls.add, (m, c), out_ty=R.Tensor((4, 4), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_tir_exp_tir_tanh_sum(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 1), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4, 4), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (a,), out_ty=R.Tensor((4, 4), dtype="float32"))
            c = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((4, 1), dtype="float32"))
            R.output(c)
        return c

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), y: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            c: R.Tensor((4, 1), dtype="float32") = cls.fused_tir_exp_tir_tanh_sum(x)
            gv: R.Tensor((4, 4), dtype="float32") = cls.fused_matmul_add(x, y, c)
            R.output(gv)
        return gv
