# run: FuseOps(fuse_opt_level=2)
n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reshape(x: T.Buffer((n, m), "float32"), T_reshape: T.Buffer(("n * m",), "float32")):
        T.func_attr({"op_pattern": 8})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(a: T.Buffer(("n * m",), "float32"), compute: T.Buffer(("n * m",), "float32"), n: T.int64, m: T.int64):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((n, m), dtype="float32")) -> R.Tensor(("n * m",), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((n * m,), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (a,), out_ty=R.Tensor((n * m,), dtype="float32"), tir_vars=R.shape([n, m]))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reshape(x: T.Buffer((n, m), "float32"), T_reshape: T.Buffer(("n * m",), "float32")):
        T.func_attr({"op_pattern": 8})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(a: T.Buffer(("n * m",), "float32"), compute: T.Buffer(("n * m",), "float32"), n: T.int64, m: T.int64):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((n, m), dtype="float32")) -> R.Tensor(("n * m",), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((n * m,), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (a,), out_ty=R.Tensor((n * m,), dtype="float32"), tir_vars=R.shape([n, m]))
            R.output(gv)
        return gv
