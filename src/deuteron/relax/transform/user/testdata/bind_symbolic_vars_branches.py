# run: BindSymbolicVars(binding_map={n: 4, k: 3})
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool"), s: R.Shape(["n", "k"]), t: R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("k",), "float32"))):
        n=T.int64()
        R.func_attr({"tir_var_upper_bound": {"n": 1024}})
        if c:
            y = R.zeros(R.shape([n]), "float32")
        else:
            y = R.add(x, x)
        return (y, t)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), c: R.Tensor((), dtype="bool"), s: R.Shape([4, 3]), t: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((3,), dtype="float32"))) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((3,), dtype="float32"))):
        R.func_attr({"tir_var_upper_bound": {"n": 1024}})
        if c:
            y_then: R.Tensor((4,), dtype="float32") = R.zeros(R.shape([4]), dtype="float32")
            y: R.Tensor((4,), dtype="float32") = y_then
        else:
            y_else: R.Tensor((4,), dtype="float32") = R.add(x, x)
            y: R.Tensor((4,), dtype="float32") = y_else
        return (y, t)
