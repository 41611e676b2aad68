"""Small networks of float32 with seeded weights, each an ONNX model: what `./dev bench` measures beside those of real size."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """A graph of float32 nodes with seeded weights."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, *shape, scale=None):
        name = f"w{len(self.weights)}"
        fan_in = max(1, int(np.prod(shape[1:])))
        data = self.random.standard_normal(shape) * (scale or (2 / fan_in) ** 0.5)
        self.weights.append(numpy_helper.from_array(data.astype(np.float32), name))
        return name

    def constant(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.float32(value), name))
        return name

    def node(self, op, *inputs, **attributes):
        output = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=output, **attributes))
        return output

    def save(self, path, inputs, output, shape):
        graph = helper.make_graph(
            self.nodes,
            "bench",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, path)
        return path


def conv_blocks(path, channels, size, kernel, groups, bn=True, count=1):
    """`count` convolutions of square images, one behind the other."""
    b = Builder()
    y = "x"
    for _ in range(count):
        w = b.weight(channels, channels // groups, kernel, kernel)
        y = b.node("Conv", y, w, group=groups, pads=[kernel // 2] * 4, kernel_shape=[kernel] * 2)
        if bn:
            # Not folded into the weights: scale and shift stand after the convolution, as unfused operators would run.
            y = b.node("Mul", y, b.weight(1, channels, 1, 1, scale=1.0))
            y = b.node("Add", y, b.weight(1, channels, 1, 1, scale=1.0))
            y = b.node("Relu", y)
    return b.save(path, [("x", [1, channels, size, size])], y, [1, channels, size, size])


def lstm(path, hidden=128, steps=16):
    b = Builder()
    wx, wh, bias = b.weight(hidden, 4 * hidden), b.weight(hidden, 4 * hidden), b.weight(4 * hidden, scale=0.1)
    h, c = "h0", "c0"
    for step in range(steps):
        gates = b.node("Add", b.node("Add", b.node("MatMul", f"x{step}", wx), b.node("MatMul", h, wh)), bias)
        split = [f"gate{step}_{i}" for i in range(4)]
        b.nodes.append(helper.make_node("Split", [gates], split, name=f"split{step}", axis=1))
        i, f, o = (b.node("Sigmoid", s) for s in split[:3])
        g = b.node("Tanh", split[3])
        c = b.node("Add", b.node("Mul", f, c), b.node("Mul", i, g))
        h = b.node("Mul", o, b.node("Tanh", c))
    inputs = [("h0", [1, hidden]), ("c0", [1, hidden])] + [(f"x{s}", [1, hidden]) for s in range(steps)]
    return b.save(path, inputs, h, [1, hidden])


def chain(path, rows=1024, columns=4096, length=20, last="Abs"):
    """`length` elementwise operators, the rest broadcast; every fifth is `last`."""
    b = Builder()
    y = "x"
    for i in range(length):
        op = i % 5
        if op == 0:
            y = b.node("Add", y, b.weight(columns, scale=1.0))
        elif op == 1:
            y = b.node("Mul", y, b.weight(rows, 1, scale=1.0))
        elif op == 2:
            y = b.node("Relu", y)
        elif op == 3:
            y = b.node("Sub", y, b.weight(columns, scale=1.0))
        else:
            y = b.node(last, y)
    return b.save(path, [("x", [rows, columns])], y, [rows, columns])


def matmul(path, m, k, n):
    b = Builder()
    return b.save(path, [("x", [m, k])], b.node("MatMul", "x", b.weight(k, n)), [m, n])


def row_chain(path, rows=512, columns=1024, count=4):
    """`count` times a bias, GELU, a layer norm and a softmax of rows."""
    b = Builder()
    root, half, one = (b.constant(value) for value in (2**0.5, 0.5, 1.0))
    y = "x"
    for _ in range(count):
        y = b.node("Add", y, b.weight(columns, scale=1.0))
        y = b.node("Mul", b.node("Mul", y, half), b.node("Add", b.node("Erf", b.node("Div", y, root)), one))
        y = b.node("LayerNormalization", y, b.weight(columns, scale=1.0), b.weight(columns, scale=1.0), axis=-1)
        y = b.node("Softmax", y, axis=-1)
    return b.save(path, [("x", [rows, columns])], y, [rows, columns])
