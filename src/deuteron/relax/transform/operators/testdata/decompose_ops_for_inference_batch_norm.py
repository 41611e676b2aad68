# run: DecomposeOpsForInference
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3, 4, 4), "float32"), g: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32"), m: R.Tensor((3,), "float32"), v: R.Tensor((3,), "float32")):
        with R.dataflow():
            n = R.nn.batch_norm(x, g, b, m, v, axis=1, center=False, scale=True)
            y = n[0]
            mean = n[1]
            R.output(y, mean)
        return (y, mean)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3, 4, 4), dtype="float32"), g: R.Tensor((3,), dtype="float32"), b: R.Tensor((3,), dtype="float32"), m: R.Tensor((3,), dtype="float32"), v: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((1, 3, 4, 4), dtype="float32"), R.Tensor((3,), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((1, 3, 1, 1), dtype="float32") = R.expand_dims(m, axis=[0, 2, 3])
            lv1: R.Tensor((1, 3, 4, 4), dtype="float32") = R.subtract(x, lv)
            lv2: R.Tensor((1, 3, 1, 1), dtype="float32") = R.expand_dims(v, axis=[0, 2, 3])
            lv3: R.Tensor((1, 3, 1, 1), dtype="float32") = R.add(lv2, R.const(1e-05, "float32"))
            lv4: R.Tensor((1, 3, 1, 1), dtype="float32") = R.sqrt(lv3)
            lv5: R.Tensor((1, 3, 4, 4), dtype="float32") = R.divide(lv1, lv4)
            lv6: R.Tensor((1, 3, 1, 1), dtype="float32") = R.expand_dims(g, axis=[0, 2, 3])
            y: R.Tensor((1, 3, 4, 4), dtype="float32") = R.multiply(lv5, lv6)
            n: R.Tuple(R.Tensor((1, 3, 4, 4), dtype="float32"), R.Tensor((3,), dtype="float32"), R.Tensor((3,), dtype="float32")) = y, m, v
            mean: R.Tensor((3,), dtype="float32") = n[1]
            R.output(y, mean)
        return (y, mean)
