# compiled code after MergeCompositeFunctions: UnsupportedError: operator exp, which no kernel was made for: LegalizeOps has not run, or knows too little of its shapes or scalars (give its arguments shapes by R.match_cast, BindSymbolicVars or --shape; where they do not tell how arguments broadcast, say so by R.broadcast_to), (binding "z") in function main cannot be translated to byte code
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        y: R.Tensor((2, 3), dtype="float32") = x
        z: R.Tensor((2, 3), dtype="float32") = R.exp(y)
        w: R.Tensor((2, 3), dtype="float32") = R.tanh(z)
        return w
