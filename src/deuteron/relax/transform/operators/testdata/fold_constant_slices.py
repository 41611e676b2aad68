# run: FoldConstant
# Where a constant is cut is said by scalars; a cut at a symbol is no constant.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        with R.dataflow():
            w = R.const([[1, 2], [3, 4], [5, 6]], "float32")
            a = R.strided_slice(w, (0,), (1,), (2,), assume_inbound=True)
            b = R.squeeze(a, axis=[0])
            c = R.strided_slice(w, (0,), (0,), (n,), assume_inbound=False)
            y = R.add(x, b)
            R.output(y, c)
        return (y, c)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 2), dtype="float32")) -> R.Tuple(R.Tensor((n, 2), dtype="float32"), R.Tensor(("T.min(n, 3)", 2), dtype="float32")):
        with R.dataflow():
            c: R.Tensor((T.min(n, 3), 2), dtype="float32") = R.strided_slice(metadata["ir.GenericConst"][0], (0,), (0,), (n,), assume_inbound=False)
            y: R.Tensor((n, 2), dtype="float32") = R.add(x, metadata["ir.GenericConst"][1])
            R.output(c, y)
        return (y, c)

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [3, 2], "data": "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBA"},
    {"dtype": "float32", "shape": [2], "data": "AABAQAAAgEA="},
]}
