# run: CanonicalizeBindings
# config: tvm_compat=true
# What only a match_cast to an output uses goes into it, as TVM has it.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 16), dtype="float32")) -> R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 16), dtype="float32")):
        with R.dataflow():
            a: R.Any = R.call_pure_packed("f", x, ty_args=(R.Any,))
            b: R.Any = R.call_pure_packed("g", x, ty_args=(R.Any,))
            c = R.match_cast(a, R.Tensor((4, 16), dtype="float32"))
            d = R.match_cast(b, R.Tensor((4, 16), dtype="float32"))
            e: R.Tensor((4, 16), dtype="float32") = R.add(c, d)
            R.output(c, e)
        return (c, e)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 16), dtype="float32")) -> R.Tuple(R.Tensor((4, 16), dtype="float32"), R.Tensor((4, 16), dtype="float32")):
        with R.dataflow():
            b: R.Any = R.call_pure_packed("g", x, ty_args=(R.Any,))
            c: R.Tensor((4, 16), dtype="float32") = R.match_cast(R.call_pure_packed("f", x, ty_args=(R.Any,)), R.Tensor((4, 16), dtype="float32"))
            d: R.Tensor((4, 16), dtype="float32") = R.match_cast(b, R.Tensor((4, 16), dtype="float32"))
            e: R.Tensor((4, 16), dtype="float32") = R.add(c, d)
            R.output(c, e)
        return (c, e)
