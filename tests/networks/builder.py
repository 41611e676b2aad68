"""Builds ONNX graphs node by node, with seeded random weights that keep activations at unit scale."""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Builder:
    """Methods return the name of the value that they add."""

    def __init__(self, seed=0, opset=OPSET):
        self.random = np.random.default_rng(seed)
        self.opset = opset
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.scope = []
        self.count = 0

    def name(self, hint):
        self.count += 1
        return "/".join(["", *self.scope, f"{hint}_{self.count}"])

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value, name, shape=None, dtype=TensorProto.FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=self.name("output")))
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def constant(self, array, hint="const"):
        name = self.name(hint)
        self.initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64), "shape")

    def scalar(self, value):
        return self.constant(np.array(value, np.float32), "scalar")

    def normal(self, *shape, scale=1.0, mean=0.0, hint="weight"):
        return self.constant((self.random.standard_normal(shape) * scale + mean).astype(np.float32), hint)

    def weight(self, *shape, fan_in, gain=1.0):
        return self.normal(*shape, scale=gain / math.sqrt(fan_in))

    def op(self, op_type, *inputs, outputs=1, **attributes):
        name = self.name(op_type.lower())
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, list(inputs), names, name=name, **attributes))
        return name if outputs == 1 else names

    def model(self, name, check=True):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        if check:
            onnx.checker.check_model(model)
        return model

    # Layers.

    def conv(self, x, inputs, outputs, kernel, stride=1, pad=None, groups=1, bias=True, dilation=1):
        kh, kw = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        ph, pw = (dilation * (kh - 1) // 2, dilation * (kw - 1) // 2) if pad is None else (pad, pad)
        fan_in = inputs // groups * kh * kw
        operands = [x, self.weight(outputs, inputs // groups, kh, kw, fan_in=fan_in, gain=math.sqrt(2))]
        if bias:
            operands.append(self.normal(outputs, scale=0.1, hint="bias"))
        return self.op("Conv", *operands, kernel_shape=[kh, kw], strides=[stride, stride], pads=[ph, pw, ph, pw],
                       group=groups, dilations=[dilation, dilation])

    def batch_norm(self, x, channels):
        parameters = [self.normal(channels, scale=0.1, mean=1.0, hint="gamma"), self.normal(channels, scale=0.1, hint="beta"),
                      self.normal(channels, scale=0.1, hint="mean"),
                      self.constant(self.random.uniform(0.8, 1.6, channels).astype(np.float32), "variance")]
        return self.op("BatchNormalization", x, *parameters, epsilon=1e-5)

    def relu(self, x):
        return self.op("Relu", x)

    def conv_bn(self, x, inputs, outputs, kernel, activation="Relu", **options):
        x = self.batch_norm(self.conv(x, inputs, outputs, kernel, bias=False, **options), outputs)
        if activation == "Relu6":
            return self.op("Clip", x, self.scalar(0.0), self.scalar(6.0))
        return self.op(activation, x) if activation else x

    def max_pool(self, x, kernel, stride, pad=0, ceil=False):
        return self.op("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, ceil_mode=int(ceil))

    def average_pool(self, x, kernel, stride, pad=0):
        return self.op("AveragePool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def dense(self, x, inputs, outputs):
        return self.op("Gemm", x, self.weight(outputs, inputs, fan_in=inputs), self.normal(outputs, scale=0.1, hint="bias"),
                       transB=1)

    def classifier(self, x, channels, classes):
        # Logits, no Softmax: of random weights it would be one-hot, and hide every error before it.
        return self.dense(self.op("Flatten", self.op("GlobalAveragePool", x), axis=1), channels, classes)

    def linear(self, x, inputs, outputs, bias=True):
        y = self.op("MatMul", x, self.weight(inputs, outputs, fan_in=inputs))
        return self.op("Add", y, self.normal(outputs, scale=0.1, hint="bias")) if bias else y
