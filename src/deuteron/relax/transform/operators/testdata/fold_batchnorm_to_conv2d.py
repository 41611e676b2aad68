# run: FoldBatchnormToConv2D
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1, 2, 2), "float32")):
        with R.dataflow():
            c = R.nn.conv2d(x, metadata["ir.GenericConst"][0])
            n = R.nn.batch_norm(c, metadata["ir.GenericConst"][1], metadata["ir.GenericConst"][2], metadata["ir.GenericConst"][3], metadata["ir.GenericConst"][4], axis=1, epsilon=1.0, center=True, scale=True)
            y = n[0]
            z = R.nn.relu(y)
            R.output(z)
        return z

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [1, 1, 1, 1], "data": "AAAAQA=="},
    {"dtype": "float32", "shape": [1], "data": "AAAAQA=="},
    {"dtype": "float32", "shape": [1], "data": "AACAPw=="},
    {"dtype": "float32", "shape": [1], "data": "AAAAPw=="},
    {"dtype": "float32", "shape": [1], "data": "AABAQA=="},
]}
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1, 2, 2), dtype="float32")) -> R.Tensor((1, 1, 2, 2), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((1, 1, 2, 2), dtype="float32") = R.nn.conv2d(x, metadata["ir.GenericConst"][0], strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv1: R.Tensor((1, 1, 2, 2), dtype="float32") = R.add(lv, metadata["ir.GenericConst"][1])
            z: R.Tensor((1, 1, 2, 2), dtype="float32") = R.nn.relu(lv1)
            R.output(z)
        return z

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [1, 1, 1, 1], "data": "AAAAQA=="},
    {"dtype": "float32", "shape": [1, 1, 1, 1], "data": "AAAAPw=="},
]}
