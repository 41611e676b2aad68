# run: FoldConstant
# Constants replace their variables everywhere, shapes among the arguments of calls.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 16), dtype="float32")) -> R.Tuple(R.Tensor((16, 4), dtype="float32"), R.Shape([16, 4])):
        s: R.Shape([16, 4]) = R.shape([16, 4])
        c: R.Tensor((), dtype="float32") = R.const(1.0, "float32")
        y: R.Tensor((16, 4), dtype="float32") = R.reshape(x, s)
        z: R.Tensor((16, 4), dtype="float32") = R.add(y, c)
        return (z, s)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 16), dtype="float32")) -> R.Tuple(R.Tensor((16, 4), dtype="float32"), R.Shape([16, 4])):
        s: R.Shape([16, 4]) = R.shape([16, 4])
        y: R.Tensor((16, 4), dtype="float32") = R.reshape(x, R.shape([16, 4]))
        z: R.Tensor((16, 4), dtype="float32") = R.add(y, R.const(1.0, "float32"))
        return (z, s)
