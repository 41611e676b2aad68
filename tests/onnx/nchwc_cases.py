"""Operators of com.microsoft.nchwc, which ONNX Runtime writes where it saves its optimised graphs: each network beside the plain one that it stands for."""

import numpy as np
import onnx
import onnx.helper as h
import onnxruntime
from case import Case, f

FLOAT = onnx.TensorProto.FLOAT


def filled(values, axis, block):
    """Zeros behind `values`, so that an axis is whole blocks."""
    widths = [(0, 0)] * values.ndim
    widths[axis] = (0, -values.shape[axis] % block)
    return np.pad(values, widths)


def in_blocks(weight, block, of_input):
    """Weights (O, I, h, w) as (O / b, I / b, h, w, b of I, b of O), or without blocks of the input, in a tensor that states (O, I, h, w)."""
    weight = filled(filled(weight, 0, block), 1, block if of_input else 1)
    outputs, inputs, *window = weight.shape
    if of_input:
        moved = weight.reshape(outputs // block, block, inputs // block, block, *window).transpose(0, 2, 4, 5, 3, 1)
    else:
        moved = weight.reshape(outputs // block, block, inputs, *window).transpose(0, 2, 3, 4, 1)
    return np.ascontiguousarray(moved).reshape(weight.shape)


class Network:
    """A network of plain operators and, node by node, the same in blocks."""

    def __init__(self, block):
        self.block = block
        self.nodes = {"plain": [], "blocked": []}
        self.tensors = {"plain": [], "blocked": []}
        self.count = 0

    def constant(self, plain, blocked):
        self.count += 1
        name = f"c{self.count}"
        self.tensors["plain"].append(onnx.numpy_helper.from_array(plain, name))
        self.tensors["blocked"].append(onnx.numpy_helper.from_array(blocked, name))
        return name

    def node(self, op, inputs, blocked="", **attributes):
        """A node in both; `blocked` names its operator there, in the domain of blocks."""
        self.count += 1
        result = f"v{self.count}"
        self.nodes["plain"].append(h.make_node(op, inputs, [result], **attributes))
        domain = "com.microsoft.nchwc" if blocked else ""
        self.nodes["blocked"].append(h.make_node(blocked or op, inputs, [result], domain=domain, **attributes))
        return result

    def conv(self, x, outputs, inputs, window, group=1, activation=None, other=None, seed=0, **attributes):
        weight, bias = f(outputs, inputs // group, window, window, low=-0.5, high=0.5, seed=seed), f(outputs, seed=seed)
        of_input = inputs >= self.block and (group == 1 or inputs // group > 1)
        names = [x, self.constant(weight, in_blocks(weight, self.block, of_input)), self.constant(bias, filled(bias, 0, self.block))]
        self.count += 1
        result = f"v{self.count}"
        last = result + "c"
        self.nodes["plain"].append(h.make_node("Conv", names, [last], group=group, **attributes))
        if other:
            self.nodes["plain"].append(h.make_node("Add", [last, other], [result + "s"]))
            last = result + "s"
        self.nodes["plain"].append(h.make_node(activation or "Identity", [last], [result]))
        fused = {"activation": activation} if activation else {}
        self.nodes["blocked"].append(
            h.make_node("Conv", names + ([other] if other else []), [result], domain="com.microsoft.nchwc", group=group, **fused, **attributes)
        )
        return result

    def reorder(self, op, x, **attributes):
        """A node that only the network in blocks has."""
        self.count += 1
        result = f"v{self.count}"
        self.nodes["blocked"].append(h.make_node(op, [x], [result], domain="com.microsoft.nchwc", **attributes))
        last = attributes.get("channels_last", 0)
        order = [0, 1, 2, 3] if not last else [0, 2, 3, 1] if op == "ReorderOutput" else [0, 3, 1, 2]
        self.nodes["plain"].append(h.make_node("Transpose", [x], [result], perm=order))
        return result

    def case(self, name, x, outputs):
        opsets = [h.make_opsetid("", 17), h.make_opsetid("com.microsoft.nchwc", 1)]
        models = {}
        for form in ("plain", "blocked"):
            results = [h.make_tensor_value_info(output, FLOAT, None) for output in outputs]
            given = [h.make_tensor_value_info("x", FLOAT, x.shape)]
            graph = h.make_graph(self.nodes[form], name, given, results, self.tensors[form])
            models[form] = h.make_model(graph, opset_imports=opsets, ir_version=8)
        session = onnxruntime.InferenceSession(models["plain"].SerializeToString(), providers=["CPUExecutionProvider"])
        return Case(f"{name}{self.block}", [x], models["blocked"], len(outputs), expected=session.run(None, {"x": x}))


# Where blocks of 8 are filled up, blocks of 16 would be longer, and the other way round: the model tells which they are.
def stem(block):
    network = Network(block)
    x = network.conv("x", 20, 3, 3, activation="Relu", pads=[1, 1, 1, 1], strides=[2, 2])
    x = network.node("MaxPool", [x], "MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = network.conv(x, 20, 20, 1, activation="Relu", seed=1)
    y = network.conv(y, 20, 20, 3, other=x, activation="Relu", pads=[1, 1, 1, 1], seed=2)
    both = network.reorder("ReorderOutput", network.node("Add", [x, y]), channels=20)
    mean = network.reorder("ReorderOutput", network.node("GlobalAveragePool", [y], "GlobalAveragePool"), channels=20)
    most = network.reorder("ReorderOutput", network.node("GlobalMaxPool", [y], "GlobalMaxPool"), channels=20, channels_last=1)
    return network.case("NchwcStem", f(2, 3, 19, 17), [both, mean, most])


def groups(block):
    network = Network(block)
    x = network.reorder("ReorderInput", "x")
    y = network.conv(x, 32, 32, 3, group=32, activation="Relu", pads=[1, 1, 1, 1])
    y = network.conv(y, 64, 32, 3, group=2, dilations=[2, 2], seed=1)
    y = network.conv(y, 20, 64, 1, seed=2)
    y = network.node("AveragePool", [y], "AveragePool", kernel_shape=[2, 2], count_include_pad=1, pads=[0, 0, 1, 1])
    return network.case("NchwcGroups", f(1, 32, 9, 11), [network.reorder("ReorderOutput", y, channels=20)])


def enlarged(block):
    network = Network(block)
    x = network.reorder("ReorderInput", "x", channels_last=1)
    x = network.conv(x, 20, 20, 1)
    outputs = []
    for mode in ("half_pixel", "align_corners", "asymmetric", "nearest"):
        nearest = mode == "nearest"
        scales = network.constant(np.array([1, 1, 2, 3], np.float32), np.array([1, 1, 2, 3], np.float32))
        network.count += 1
        result = f"v{network.count}"
        how = {"mode": "nearest" if nearest else "linear", "coordinate_transformation_mode": "asymmetric" if nearest else mode}
        plain = h.make_node("Resize", [x, "", scales], [result], **how, **({"nearest_mode": "floor"} if nearest else {}))
        network.nodes["plain"].append(plain)
        network.nodes["blocked"].append(h.make_node("Upsample", [x], [result], domain="com.microsoft.nchwc", scales=[1, 1, 2, 3], **how))
        outputs.append(network.reorder("ReorderOutput", result, channels=20))
    return network.case("NchwcUpsample", f(1, 5, 6, 20), outputs)


def cases():
    for block in (8, 16):
        for network in (stem, groups, enlarged):
            yield network(block)
