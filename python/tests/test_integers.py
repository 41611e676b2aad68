"""Seeded random products, convolutions and pools of bytes against exact sums, for CPUs with and without instructions
for fours of bytes."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import deuteron

TARGETS = ["native", "llvm -mcpu=x86-64-v3", "llvm"]
CASES = 40
STEPS = {"MatMulInteger": 0, "ConvInteger": 0, "QLinearConv": 1, "QDQ": 1, "MaxPool": 0}


class Case:
    """A model of one operator, its inputs and its exact result."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.kind = str(self.random.choice(list(STEPS)))
        self.dtype = self.random.choice([np.uint8, np.int8])
        self.limits = np.iinfo(self.dtype)
        self.given_by_run = self.random.random() < 0.5
        self.nodes, self.constants, self.inputs, self.feed = [], [], [], {}
        self.greatest = int(self.random.choice([31, 64, 64, 100, 127]))  # of weights
        self.zero = self.dtype(self.random.integers(self.limits.min, self.limits.max + 1))
        {"MatMulInteger": self.product, "MaxPool": self.pool}.get(self.kind, self.convolution)()

    def one_of(self, *sizes):
        return int(self.random.choice(sizes))

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def input(self, name, value):
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        self.feed[name] = value
        return name

    def data(self, shape):
        value = self.random.integers(self.limits.min, self.limits.max + 1, shape).astype(self.dtype)
        self.input("x", value)
        return value.astype(np.int64)

    def weights(self, shape):
        value = self.random.integers(-self.greatest, self.greatest + 1, shape).astype(np.int8)
        self.constant("w", value)
        return value.astype(np.int64)

    def zero_point(self):
        return (self.input if self.given_by_run else self.constant)("zero", np.array(self.zero))

    def product(self):
        rows, depth, columns = (self.one_of(1, 2, 3, 5, 8, 17, 33, 64, 100) for _ in range(3))
        x, w = self.data((rows, depth)), self.weights((depth, columns))
        self.nodes.append(helper.make_node("MatMulInteger", ["x", "w", self.zero_point()], ["y"]))
        self.expected = (x - int(self.zero)) @ w

    def windows(self, x, kernel, pads, strides, fill):
        """What each place of a window sees: (rows, columns) of (n, c, h, w)."""
        padded = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=fill)
        height, width = ((padded.shape[2 + i] - kernel[i]) // strides[i] + 1 for i in range(2))
        return [[padded[:, :, i : i + height * strides[0] : strides[0], j : j + width * strides[1] : strides[1]]
                 for j in range(kernel[1])] for i in range(kernel[0])]

    def image(self, channels):
        """An image, and how a window moves over it."""
        x = self.data((1, channels, int(self.random.integers(3, 30)), int(self.random.integers(3, 30))))
        kernel = [int(self.random.integers(1, 4)) for _ in range(2)]
        pads = [int(self.random.integers(0, kernel[i % 2])) for i in range(4)]
        return x, kernel, pads, [self.one_of(1, 2) for _ in range(2)]

    def pool(self):
        x, kernel, pads, strides = self.image(self.one_of(1, 3, 8, 17))
        self.nodes.append(helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=kernel, pads=pads, strides=strides))
        self.expected = np.max([place for row in self.windows(x, kernel, pads, strides, self.limits.min) for place in row], axis=0)

    def convolution(self):
        depthwise = self.kind != "ConvInteger" and self.random.random() < 0.4
        channels = self.one_of(1, 2, 3, 4, 7, 8, 16, 20)
        results = channels if depthwise else self.one_of(1, 3, 8, 16, 24, 40)
        x, kernel, pads, strides = self.image(channels)
        w = self.weights((results, 1 if depthwise else channels, *kernel))
        places = self.windows(x - int(self.zero), kernel, pads, strides, 0)
        sums = sum(place * w[None, :, 0, i, j, None, None] if depthwise else np.einsum("nchw,oc->nohw", place, w[:, :, i, j])
                   for i, row in enumerate(places) for j, place in enumerate(row))
        how = dict(pads=pads, strides=strides, group=channels if depthwise else 1)
        if self.kind == "ConvInteger":
            self.nodes.append(helper.make_node("ConvInteger", ["x", "w", self.zero_point()], ["y"], **how))
            self.expected = sums
            return
        scale = np.float32(100 / max(1, np.abs(sums).max()))
        to, bias = self.dtype(self.limits.max - 135), self.random.integers(-50, 50, results).astype(np.int32)
        self.constant("zero", np.array(self.zero))
        for name, value in [("one", np.float32(1)), ("scale", np.full(results, scale, np.float32)), ("none", np.zeros(results, np.int8)),
                            ("to", np.array(to)), ("bias", bias), ("no_bias", np.zeros(results, np.int32))]:
            self.constant(name, value)
        add = lambda op, inputs, output, **attributes: self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        if self.kind == "QLinearConv":
            add("QLinearConv", ["x", "one", "zero", "w", "scale", "none", "one", "to", "bias"], "y", **how)
        else:
            add("DequantizeLinear", ["x", "one", "zero"], "real")
            add("DequantizeLinear", ["w", "scale", "none"], "weights", axis=0)
            add("DequantizeLinear", ["bias", "scale", "no_bias"], "shift", axis=0)
            add("Conv", ["real", "weights", "shift"], "sum", **how)
            add("QuantizeLinear", ["sum", "one", "to"], "y")
        real = (sums + bias[None, :, None, None]) * float(scale)
        self.expected = np.clip(np.rint(real) + int(to), self.limits.min, self.limits.max)

    def model(self):
        dtype = TensorProto.INT32 if self.kind.endswith("Integer") else helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        result = helper.make_tensor_value_info("y", dtype, self.expected.shape)
        graph = helper.make_graph(self.nodes, "integers", self.inputs, [result], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(CASES))
def test_sums_are_exact(seed, target):
    case = Case(seed)
    (result,) = deuteron.compile(case.model().SerializeToString(), backend="none", target=target).run(case.feed)
    error = np.abs(np.asarray(result).astype(np.int64) - case.expected.astype(np.int64))
    # A number half between two bytes may be rounded either way.
    assert error.max(initial=0) <= STEPS[case.kind]
    assert STEPS[case.kind] == 0 or (error > 0).mean() <= 0.02
