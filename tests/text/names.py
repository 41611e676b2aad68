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
