# run: FuseTIR
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reshape(x: T.Buffer((n, m), "float32"), T_reshape: T.Buffer(("n * m",), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        for ax0 in range(n * m):
            with T.sblock("T_reshape"):
                v_ax0 = T.axis.spatial(n * m, ax0)
                T.reads(x[v_ax0 // m, v_ax0 % m])
                T.writes(T_reshape[v_ax0])
                T_reshape[v_ax0] = x[v_ax0 // m, v_ax0 % m]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(a: T.Buffer(("n * m",), "float32"), compute: T.Buffer(("n * m",), "float32"), n: T.int64, m: T.int64):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0 in range(n * m):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(n * m, i0)
                T.reads(a[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.exp(a[v_i0])

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
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(n * m):
            with T.sblock("T_reshape"):
                v_ax0 = T.axis.spatial(n * m, ax0)
                T.reads(x[v_ax0 // m, v_ax0 % m])
                T.writes(T_reshape[v_ax0])
                T_reshape[v_ax0] = x[v_ax0 // m, v_ax0 % m]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(a: T.Buffer(("n * m",), "float32"), compute: T.Buffer(("n * m",), "float32"), n: T.int64, m: T.int64):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0 in range(n * m):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(n * m, i0)
                T.reads(a[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.exp(a[v_i0])

    @R.function
    def main(x: R.Tensor((n, m), dtype="float32")) -> R.Tensor(("n * m",), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((n * m,), dtype="float32"))
            gv = R.call_tir(cls.tir_exp, (a,), out_ty=R.Tensor((n * m,), dtype="float32"), tir_vars=R.shape([n, m]))
            R.output(gv)
        return gv
