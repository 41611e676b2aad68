# run: FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), b: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(t: R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"))) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            a: R.Tensor((4, 8), dtype="float32") = t[0]
            b: R.Tensor((4, 8), dtype="float32") = t[2]
            c = R.call_tir(cls.add, (a, b), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (c,), out_ty=R.Tensor((4, 8), dtype="float32"))
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
    def add(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), b: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function(private=True)
    def fused_add_tir_exp(t_0: R.Tensor((4, 8), dtype="float32"), t_2: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.add, (t_0, t_2), out_ty=R.Tensor((4, 8), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (c,), out_ty=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(t: R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"))) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            t_0: R.Tensor((4, 8), dtype="float32") = t[0]
            t_2: R.Tensor((4, 8), dtype="float32") = t[2]
            gv: R.Tensor((4, 8), dtype="float32") = cls.fused_add_tir_exp(t_0, t_2)
            R.output(gv)
        return gv
