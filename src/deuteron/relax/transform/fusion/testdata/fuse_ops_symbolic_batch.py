# run: FuseOps(fuse_opt_level=2)
# config: tvm_compat=true
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(m: T.Buffer((n, T.int64(16)), "float32"), b: T.Buffer((T.int64(16),), "float32"), T_add: T.Buffer((n, T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((n, T.int64(16)), "float32"), w: T.Buffer((T.int64(16), T.int64(16)), "float32"), matmul: T.Buffer((n, T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 4})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(a: T.Buffer((n, T.int64(16)), "float32"), compute: T.Buffer((n, T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((n, 16), dtype="float32"), w: R.Tensor((16, 16), dtype="float32"), b: R.Tensor((16,), dtype="float32")) -> R.Tensor((n, 16), dtype="float32"):
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((n, 16), dtype="float32"))
            a = R.call_tir(cls.add, (m, b), out_ty=R.Tensor((n, 16), dtype="float32"))
            gv = R.call_tir(cls.relu, (a,), out_ty=R.Tensor((n, 16), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(m: T.Buffer((n, T.int64(16)), "float32"), b: T.Buffer((T.int64(16),), "float32"), T_add: T.Buffer((n, T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def matmul(x: T.Buffer((n, T.int64(16)), "float32"), w: T.Buffer((T.int64(16), T.int64(16)), "float32"), matmul: T.Buffer((n, T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def relu(a: T.Buffer((n, T.int64(16)), "float32"), compute: T.Buffer((n, T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_matmul_add_relu(x: R.Tensor((n, 16), dtype="float32"), w: R.Tensor((16, 16), dtype="float32"), b: R.Tensor((16,), dtype="float32")) -> R.Tensor((n, 16), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            m = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((n, 16), dtype="float32"))
            a = R.call_tir(cls.add, (m, b), out_ty=R.Tensor((n, 16), dtype="float32"))
            gv = R.call_tir(cls.relu, (a,), out_ty=R.Tensor((n, 16), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((n, 16), dtype="float32"), w: R.Tensor((16, 16), dtype="float32"), b: R.Tensor((16,), dtype="float32")) -> R.Tensor((n, 16), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((n, 16), dtype="float32") = cls.fused_matmul_add_relu(x, w, b)
            R.output(gv)
        return gv
