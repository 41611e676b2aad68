# run: LegalizeOps
# Local functions too, which may use what is around them.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        y = R.exp(x)
        @R.function
        def outer(p: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            @R.function
            def inner(q: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
                r = R.nn.relu(q)
                return r

            s = inner(p)
            t = R.add(s, s)
            return t

        z = outer(R.const([1.0, 2.0, 3.0], "float32"))
        w = R.exp(y)
        return (w, z)
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
    def add(s: T.Buffer((T.int64(3),), "float32"), s_1: T.Buffer((T.int64(3),), "float32"), T_add: T.Buffer((T.int64(3),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(T.int64(3)):
            with T.sblock("T_add"):
                v_ax0 = T.axis.spatial(T.int64(3), ax0)
                T.reads(s[v_ax0], s_1[v_ax0])
                T.writes(T_add[v_ax0])
                T_add[v_ax0] = s[v_ax0] + s_1[v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def relu(q: T.Buffer((T.int64(3),), "float32"), compute: T.Buffer((T.int64(3),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0 in range(T.int64(3)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(3), i0)
                T.reads(q[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.max(q[v_i0], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((n,), "float32"), compute: T.Buffer((n,), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0 in range(n):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads(x[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.exp(x[v_i0])

    @R.function
    def main(x: R.Tensor((n,), dtype="float32")) -> R.Tuple(R.Tensor((n,), dtype="float32"), R.Tensor((3,), dtype="float32")):
        cls = Module
        y = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((n,), dtype="float32"))
        @R.function
        def outer(p: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
            @R.function
            def inner(q: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
                r = R.call_tir(cls.relu, (q,), out_ty=R.Tensor((3,), dtype="float32"))
                return r

            s: R.Tensor((3,), dtype="float32") = inner(p)
            t = R.call_tir(cls.add, (s, s), out_ty=R.Tensor((3,), dtype="float32"))
            return t

        z: R.Tensor((3,), dtype="float32") = outer(metadata["ir.GenericConst"][0])
        w = R.call_tir(cls.tir_exp, (y,), out_ty=R.Tensor((n,), dtype="float32"))
        return (w, z)

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [3], "data": "AACAPwAAAEAAAEBA"},
]}
