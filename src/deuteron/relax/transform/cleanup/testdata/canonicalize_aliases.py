# run: CanonicalizeBindings
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            t = (a, x)
            b = t[0]
            k = R.const(1.0, "float32")
            d = R.multiply(b, k)
            e = R.exp(d)
            g2 = R.exp(e)
            m = R.match_cast(g2, R.Tensor((4,), "float32"))
            gv = R.exp(m)
            y = x
            o = e
            R.output(gv, y, o, g2)
        z = y
        w = R.add(z, gv)
        q = w
        return (q, o)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.add(x, x)
            t: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")) = a, x
            k: R.Tensor((), dtype="float32") = R.const(1.0, "float32")
            d: R.Tensor((4,), dtype="float32") = R.multiply(a, R.const(1.0, "float32"))
            o: R.Tensor((4,), dtype="float32") = R.exp(d)
            g2: R.Tensor((4,), dtype="float32") = R.exp(o)
            gv: R.Tensor((4,), dtype="float32") = R.exp(g2)
            R.output(o, gv)
        w: R.Tensor((4,), dtype="float32") = R.add(x, gv)
        return (w, o)
