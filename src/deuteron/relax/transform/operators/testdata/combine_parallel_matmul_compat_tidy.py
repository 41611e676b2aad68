# run: CombineParallelMatmul
# config: tvm_compat=true
# TVM tidies up a function in which it has combined something: what is computed twice, has two names or is not used goes. Where there is
# nothing to combine, the function stays as it is.
@I.ir_module
class Module:
    @R.function
    def combined(x: R.Tensor((4, 16), "float32"), w: R.Tensor((8, 16), "float32"), c: R.Tensor((), "bool")):
        m = T.int64()
        with R.dataflow():
            unused = R.exp(x)
            w1 = R.permute_dims(w)
            a = R.matmul(x, w1)
            e = R.exp(a)
            f = R.match_cast(e, R.Tensor((m, 8), "float32"))
            w2 = R.permute_dims(w)
            b = R.matmul(x, w2)
            g = R.add(b, e)
            h = g
            k = f
            R.output(h, k)
        return (h, k)

    @R.function
    def untouched(x: R.Tensor((4, 16), "float32"), w: R.Tensor((16, 8), "float32")):
        with R.dataflow():
            unused = R.exp(x)
            a = R.matmul(x, w)
            b = a
            R.output(b)
        return b
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def combined(x: R.Tensor((4, 16), dtype="float32"), w: R.Tensor((8, 16), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32")):
        with R.dataflow():
            w1: R.Tensor((16, 8), dtype="float32") = R.permute_dims(w, axes=None)
            lv: R.Tensor((16, 16), dtype="float32") = R.concat((w1, w1), axis=1)
            lv1: R.Tensor((4, 16), dtype="float32") = R.matmul(x, lv, out_dtype="float32")
            lv2: R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32")) = R.split(lv1, indices_or_sections=[8], axis=1)
            a: R.Tensor((4, 8), dtype="float32") = lv2[0]
            k: R.Tensor((4, 8), dtype="float32") = R.exp(a)
            b: R.Tensor((4, 8), dtype="float32") = lv2[1]
            h: R.Tensor((4, 8), dtype="float32") = R.add(b, k)
            R.output(k, h)
        return (h, k)

    @R.function
    def untouched(x: R.Tensor((4, 16), dtype="float32"), w: R.Tensor((16, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        with R.dataflow():
            unused: R.Tensor((4, 16), dtype="float32") = R.exp(x)
            a: R.Tensor((4, 8), dtype="float32") = R.matmul(x, w, out_dtype=None)
            b: R.Tensor((4, 8), dtype="float32") = a
            R.output(b)
        return b
