# run: EliminateCommonSubexpr(call_only=true)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        a = x
        b = x
        c = R.const(1.0, "float32")
        d = R.const(1.0, "float32")
        e = R.add(a, c)
        f = R.add(b, d)
        g = R.shape([2, 3])
        h = R.shape([2, 3])
        i = R.str("a")
        j = R.str("a")
        k = R.prim_value(3)
        l = R.prim_value(3)
        m = R.reshape(x, R.shape([3, 2]))
        o = R.reshape(x, R.shape([3, 2]))
        p = R.add(R.const(1.0, "float32"), R.const(1.0, "float32"))
        q = R.add(R.const(1.0, "float32"), R.const(1.0, "float32"))
        return (e, f, g, h, m, o, p, q)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Shape([2, 3]), R.Shape([2, 3]), R.Tensor((3, 2), dtype="float32"), R.Tensor((3, 2), dtype="float32"), R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32")):
        a: R.Tensor((2, 3), dtype="float32") = x
        b: R.Tensor((2, 3), dtype="float32") = x
        c: R.Tensor((), dtype="float32") = R.const(1.0, "float32")
        d: R.Tensor((), dtype="float32") = R.const(1.0, "float32")
        e: R.Tensor((2, 3), dtype="float32") = R.add(a, c)
        f: R.Tensor((2, 3), dtype="float32") = R.add(b, d)
        g: R.Shape([2, 3]) = R.shape([2, 3])
        h: R.Shape([2, 3]) = R.shape([2, 3])
        i: R.Any = R.str("a")
        j: R.Any = R.str("a")
        k: T.int64 = 3
        l: T.int64 = 3
        m: R.Tensor((3, 2), dtype="float32") = R.reshape(x, R.shape([3, 2]))
        o: R.Tensor((3, 2), dtype="float32") = m
        p: R.Tensor((), dtype="float32") = R.add(R.const(1.0, "float32"), R.const(1.0, "float32"))
        q: R.Tensor((), dtype="float32") = p
        return (e, f, g, h, m, m, p, p)
