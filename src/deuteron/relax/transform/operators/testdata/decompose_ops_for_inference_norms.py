# run: DecomposeOpsForInference
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32"), g: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
        with R.dataflow():
            l = R.nn.layer_norm(x, g, b, axes=[-1])
            d = R.nn.dropout(l, rate=0.5)
            e = d[0]
            s = R.shape_of(e)
            t = R.tensor_to_shape(R.shape_to_tensor(s))
            R.output(e, t)
        return (e, t)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, 4), dtype="float32"), g: R.Tensor((4,), dtype="float32"), b: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((2, 3, 4), dtype="float32"), R.Shape(ndim=3)):
        with R.dataflow():
            e: R.Tensor((2, 3, 4), dtype="float32") = R.nn.layer_norm(x, g, b, axes=[-1], epsilon=1e-05, center=True, scale=True)
            s: R.Shape([2, 3, 4]) = R.shape_of(e)
            lv: R.Tensor((3,), dtype="int64") = R.shape_to_tensor(s)
            t: R.Shape(ndim=3) = R.tensor_to_shape(lv)
            R.output(e, t)
        return (e, t)
