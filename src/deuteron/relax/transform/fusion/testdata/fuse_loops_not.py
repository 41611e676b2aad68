# run: LambdaLift,ConvertToDataflow,LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,FuseLoops
# A step may say that it was the last; one hands its state on as it is, one makes a tensor that grows.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32"), go: R.Tensor((), "bool")):
        with R.dataflow():
            @R.function
            def may_end(t: R.Shape(["i"]), a: R.Tensor((3,), "float32")):
                b = R.add(a, x)
                return (R.less(R.max(b), R.const(9, "float32")), b)

            @R.function
            def keeps(t: R.Shape(["i"]), a: R.Tensor((3,), "float32")):
                b = R.add(a, x)
                return (a, b)

            @R.function
            def grows(t: R.Shape(["i"]), a: R.Tensor(dtype="float32", ndim=1)):
                m = T.int64()
                c = R.match_cast(a, R.Tensor((m,), "float32"))
                b = R.concat((c, x), axis=0)
                return (b,)

            p = R.loop(may_end, 4, (x,), go, ty_args=(R.Tuple(R.Tensor((3,), "float32")),))
            q = R.loop(keeps, 4, (x,), ty_args=(R.Tuple(R.Tensor((3,), "float32"), R.Tensor((4, 3), "float32")),))
            r = R.loop(grows, 4, (x,), ty_args=(R.Tuple(R.Tensor(dtype="float32", ndim=1)),))
            R.output(p, q, r)
        return (p, q, r)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
i = TypeVar("i")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((T.int64(3),), "float32"), x: T.Buffer((T.int64(3),), "float32"), T_add: T.Buffer((T.int64(3),), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(T.int64(3)):
            with T.sblock("T_add"):
                v_ax0 = T.axis.spatial(T.int64(3), ax0)
                T.reads(a[v_ax0], x[v_ax0])
                T.writes(T_add[v_ax0])
                T_add[v_ax0] = a[v_ax0] + x[v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def concatenate(c: T.Buffer((m,), "float32"), x: T.Buffer((T.int64(3),), "float32"), T_concat: T.Buffer(("m + T.int64(3)",), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(m + T.int64(3)):
            with T.sblock("T_concat"):
                v_ax0 = T.axis.spatial(m + T.int64(3), ax0)
                T.reads(x[v_ax0 - m], c[v_ax0])
                T.writes(T_concat[v_ax0])
                T_concat[v_ax0] = T.if_then_else(m <= v_ax0, x[v_ax0 - m], c[v_ax0])

    @T.prim_func(private=True, s_tir=True)
    def less(gv: T.Buffer((), "float32"), T_less: T.Buffer((), "bool")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        with T.sblock("T_less"):
            vi = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads(gv[()])
            T.writes(T_less[()])
            T_less[()] = gv[()] < T.float32(9.0)

    @T.prim_func(private=True, s_tir=True)
    def max(b: T.Buffer((T.int64(3),), "float32"), b_red: T.Buffer((), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for k0 in range(T.int64(3)):
            with T.sblock("b_red"):
                v_k0 = T.axis.reduce(T.int64(3), k0)
                T.reads(b[v_k0])
                T.writes(b_red[()])
                with T.init():
                    b_red[()] = T.float32("-inf")
                b_red[()] = T.max(b_red[()], b[v_k0])

    @R.function(private=True)
    def main_grows(t: R.Shape([i]), a: R.Tensor(dtype="float32", ndim=1), x: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=1)):
        m_1 = T.int64()
        cls = Module
        with R.dataflow():
            c: R.Tensor((m_1,), dtype="float32") = R.match_cast(a, R.Tensor((m_1,), dtype="float32"))
            b = R.call_tir(cls.concatenate, (c, x), out_ty=R.Tensor((m_1 + 3,), dtype="float32"))
            R.output(b)
        return (b,)

    @R.function(private=True)
    def main_keeps(t: R.Shape([i]), a: R.Tensor((3,), dtype="float32"), x: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((3,), dtype="float32")):
        cls = Module
        b = R.call_tir(cls.add, (a, x), out_ty=R.Tensor((3,), dtype="float32"))
        return (a, b)

    @R.function(private=True)
    def main_may_end(t: R.Shape([i]), a: R.Tensor((3,), dtype="float32"), x: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="bool"), R.Tensor((3,), dtype="float32")):
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.add, (a, x), out_ty=R.Tensor((3,), dtype="float32"))
            gv = R.call_tir(cls.max, (b,), out_ty=R.Tensor((), dtype="float32"))
            gv1 = R.call_tir(cls.less, (gv,), out_ty=R.Tensor((), dtype="bool"))
            R.output(b, gv1)
        return (gv1, b)

    @R.function
    def main(x: R.Tensor((3,), dtype="float32"), go: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tuple(R.Tensor((3,), dtype="float32")), R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((4, 3), dtype="float32")), R.Tuple(R.Tensor(dtype="float32", ndim=1))):
        cls = Module
        with R.dataflow():
            may_end: R.Any = R.make_closure(cls.main_may_end, (x,))
            keeps: R.Any = R.make_closure(cls.main_keeps, (x,))
            grows: R.Any = R.make_closure(cls.main_grows, (x,))
            p: R.Tuple(R.Tensor((3,), dtype="float32")) = R.loop(may_end, 4, (x,), go, ty_args=(R.Tuple(R.Tensor((3,), dtype="float32")),))
            q: R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((4, 3), dtype="float32")) = R.loop(keeps, 4, (x,), ty_args=(R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((4, 3), dtype="float32")),))
            r: R.Tuple(R.Tensor(dtype="float32", ndim=1)) = R.loop(grows, 4, (x,), ty_args=(R.Tuple(R.Tensor(dtype="float32", ndim=1)),))
            R.output(p, q, r)
        return (p, q, r)
