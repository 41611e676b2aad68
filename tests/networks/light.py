"""The light_* structures of the onnx package, their constant weights replaced by seeded normals."""

import math
import pathlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

FOLDER = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
NAMES = sorted(path.stem for path in FOLDER.glob("light_*.onnx"))


def _uses(graph):
    """For each value, the first node that it reaches through nodes that only rearrange it, and the input number."""
    uses = {}
    for node in reversed(graph.node):
        for index, name in enumerate(node.input):
            if node.op_type in ("Unsqueeze", "Reshape") and index == 0:
                if node.output[0] in uses:
                    uses[name] = uses[node.output[0]]
            else:
                uses[name] = (node.op_type, index)
    return uses


def _weights(random, shape, use, gain):
    op, index = use
    if op == "BatchNormalization":
        if index == 4:
            return random.uniform(0.8, 1.6, shape)
        return random.standard_normal(shape) * 0.1 + (1.0 if index == 1 else 0.0)
    if op == "Mul":
        return random.standard_normal(shape) * 0.1 + 1.0
    if index == 1 and op in ("Conv", "Gemm"):
        # Conv (out, in, h, w); Gemm of these models is transposed: (out, in).
        return random.standard_normal(shape) * gain / math.sqrt(max(1, math.prod(shape[1:])))
    return random.standard_normal(shape) * 0.1


def light(name, batch=1, seed=0):
    """The full structure: the files fix its sizes."""
    model = onnx.load(FOLDER / f"{name}.onnx")
    graph = model.graph
    random = np.random.default_rng(seed)
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    uses = _uses(graph)
    # Sums of branches grow from block to block: their weights shrink what they add.
    gain = 0.7 if any(node.op_type == "Sum" for node in graph.node) else math.sqrt(2.0)
    made, nodes = [], []
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            nodes.append(node)
            continue
        shape = tuple(int(d) for d in shapes[node.input[0]])
        values = _weights(random, shape, uses.get(node.output[0], ("", 0)), gain).astype(np.float32)
        made.append(numpy_helper.from_array(values, node.output[0]))
    read = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    names = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in names]
    for index, node in enumerate(nodes):
        if not node.name:
            node.name = f"{node.op_type}_{index}"
    new_graph = helper.make_graph(nodes, name, inputs, graph.output, made + kept)
    for value in [*new_graph.input, *new_graph.output]:
        dims = value.type.tensor_type.shape.dim
        if dims and batch != 1:
            dims[0].Clear()
            if isinstance(batch, str):
                dims[0].dim_param = batch
            else:
                dims[0].dim_value = batch
    if batch != 1:
        _free_batch(new_graph)
    result = helper.make_model(new_graph, opset_imports=model.opset_import)
    result.ir_version = 8
    return result


def _free_batch(graph):
    """Reshapes to a leading 1 keep the batch instead."""
    targets = {node.input[1] for node in graph.node if node.op_type == "Reshape"}
    for tensor in graph.initializer:
        if tensor.name in targets:
            shape = numpy_helper.to_array(tensor).copy()
            if shape[0] == 1:
                shape[0] = 0
            tensor.CopyFrom(numpy_helper.from_array(shape, tensor.name))
