# run: SeparateOutputs
# expect: no changes
# The second part begins where the first ends: only the first result's shape tells that.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def parts(var_x: T.handle, var_a: T.handle, var_b: T.handle):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        m = T.int64()
        n = T.int64()
        x = T.match_buffer(var_x, (m + n,))
        a = T.match_buffer(var_a, (m,))
        b = T.match_buffer(var_b, (n,))
        for ax0 in range(m):
            with T.sblock("a"):
                v_ax0 = T.axis.spatial(m, ax0)
                T.reads(x[v_ax0])
                T.writes(a[v_ax0])
                a[v_ax0] = x[v_ax0]
        for ax0 in range(n):
            with T.sblock("b"):
                v_ax0 = T.axis.spatial(n, ax0)
                T.reads(x[m + v_ax0])
                T.writes(b[v_ax0])
                b[v_ax0] = x[m + v_ax0]

    @R.function
    def main(x: R.Tensor(("m + n",), dtype="float32"), s: R.Shape(["m", "n"])) -> R.Tensor(("n",), dtype="float32"):
        m = T.int64()
        n = T.int64()
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.parts, (x,), out_ty=[R.Tensor((m,), dtype="float32"), R.Tensor((n,), dtype="float32")])
            lv1: R.Tensor((n,), dtype="float32") = lv[1]
            gv = R.call_tir(cls.twice, (lv1,), out_ty=R.Tensor((n,), dtype="float32"))
            R.output(gv)
        return gv

    @T.prim_func(private=True, s_tir=True)
    def twice(var_x: T.handle, var_y: T.handle):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        n = T.int64()
        x = T.match_buffer(var_x, (n,))
        y = T.match_buffer(var_y, (n,))
        for ax0 in range(n):
            with T.sblock("y"):
                v_ax0 = T.axis.spatial(n, ax0)
                T.reads(x[v_ax0])
                T.writes(y[v_ax0])
                y[v_ax0] = x[v_ax0] * T.float32(2.0)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def parts(x: T.Buffer(("m + n",), "float32"), a: T.Buffer((m,), "float32"), b: T.Buffer((n,), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(m):
            with T.sblock("a"):
                v_ax0 = T.axis.spatial(m, ax0)
                T.reads(x[v_ax0])
                T.writes(a[v_ax0])
                a[v_ax0] = x[v_ax0]
        for ax0 in range(n):
            with T.sblock("b"):
                v_ax0 = T.axis.spatial(n, ax0)
                T.reads(x[m + v_ax0])
                T.writes(b[v_ax0])
                b[v_ax0] = x[m + v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def twice(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(n):
            with T.sblock("y"):
                v_ax0 = T.axis.spatial(n, ax0)
                T.reads(x[v_ax0])
                T.writes(y[v_ax0])
                y[v_ax0] = x[v_ax0] * T.float32(2.0)

    @R.function
    def main(x: R.Tensor(("m + n",), dtype="float32"), s: R.Shape([m, n])) -> R.Tensor((n,), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.parts, (x,), out_ty=[R.Tensor((m,), dtype="float32"), R.Tensor((n,), dtype="float32")])
            lv1: R.Tensor((n,), dtype="float32") = lv[1]
            gv = R.call_tir(cls.twice, (lv1,), out_ty=R.Tensor((n,), dtype="float32"))
            R.output(gv)
        return gv
