# run:
# Letters of any script stay as they are; what Python cannot write gets a name of its own, and keeps its symbol.
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kérnel(Ä: T.Buffer((T.int64(4),), "float32"), b: T.Buffer((T.int64(4),), "float32")):
        for ï in range(T.int64(4)):
            with T.sblock("blöck"):
                v = T.axis.spatial(T.int64(4), ï)
                T.reads(Ä[v])
                T.writes(b[v])
                b[v] = Ä[v] + T.float32(1)

    @R.function
    def R(T: R.Tensor(("I", "T"), "float32"), I: R.Tensor((2,), "float32"), cls: R.Tensor((2,), "float32"), metadata: R.Tensor((2,), "float32"), Module: R.Tensor((2,), "float32")):
        n = R.add(I, cls)
        range = R.add(metadata, n)
        print = R.add(range, Module)
        return print

    @R.function
    def naïve(x: R.Tensor(("größe",), "float32")):
        é = R.exp(x)
        è = R.exp(é)
        return è

    @R.function
    def na__ve(x: R.Tensor((2,), "float32")):
        R.func_attr({"global_symbol": "a b"})
        return x

    @R.function
    def a_b(x: R.Tensor((2,), "float32")):
        return x

    @R.function
    def stand_in(x: R.Tensor((2,), "float32")):
        R.func_attr({"global_symbol": "lambda"})
        return x

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
        变量 = R.call_tir(cls.kérnel, (x,), out_ty=R.Tensor((4,), "float32"))
        µ = cls.naïve(变量)
        z = cls.na__ve(cls.a_b(cls.stand_in(y)))
        return (µ, z)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

I_ = TypeVar("I_")
T__1 = TypeVar("T__1")
größe = TypeVar("größe")
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kérnel(Ä: T.Buffer((T.int64(4),), "float32"), b: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for ï in range(T.int64(4)):
            with T.sblock("blöck"):
                v = T.axis.spatial(T.int64(4), ï)
                T.reads(Ä[v])
                T.writes(b[v])
                b[v] = Ä[v] + T.float32(1.0)

    @R.function
    def R(T_: R.Tensor((I_, T__1), dtype="float32"), I__1: R.Tensor((2,), dtype="float32"), cls_: R.Tensor((2,), dtype="float32"), metadata_: R.Tensor((2,), dtype="float32"), Module_: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        n: R.Tensor((2,), dtype="float32") = R.add(I__1, cls_)
        range_: R.Tensor((2,), dtype="float32") = R.add(metadata_, n)
        print: R.Tensor((2,), dtype="float32") = R.add(range_, Module_)
        return print

    @R.function
    def a_b_1(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        R.func_attr({"global_symbol": "a b"})
        return x

    @R.function
    def a_b(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        return x

    @R.function
    def lambda_(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        R.func_attr({"global_symbol": "lambda"})
        return x

    @R.function
    def naïve(x: R.Tensor((größe,), dtype="float32")) -> R.Tensor((größe,), dtype="float32"):
        é: R.Tensor((größe,), dtype="float32") = R.exp(x)
        è: R.Tensor((größe,), dtype="float32") = R.exp(é)
        return è

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), y: R.Tensor((2,), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((2,), dtype="float32")):
        cls = Module
        变量 = R.call_tir(cls.kérnel, (x,), out_ty=R.Tensor((4,), dtype="float32"))
        __: R.Tensor((4,), dtype="float32") = cls.naïve(变量)
        gv: R.Tensor((2,), dtype="float32") = cls.lambda_(y)
        gv1: R.Tensor((2,), dtype="float32") = cls.a_b(gv)
        z: R.Tensor((2,), dtype="float32") = cls.a_b_1(gv1)
        return (__, z)
