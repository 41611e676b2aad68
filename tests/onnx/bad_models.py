"""Malformed and unsupported models: each must end with the exit status of docs/command.md and name its culprit.

    python tests/onnx/bad_models.py [--binary PATH]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "onnx"))
import generation_cases  # noqa: E402

FLOAT = TensorProto.FLOAT
USAGE, MODEL, UNSUPPORTED = 2, 3, 4


def value(name, shape=(2, 3), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs, outputs, name=name, **attributes)


def model(nodes, initializers=(), inputs=None, outputs=None, opset=17):
    graph = helper.make_graph(nodes, "g", inputs or [value("x")], outputs or [value("y")], list(initializers))
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    result.ir_version = 8
    return result


# What no model's author knows of.
INNER_WORDS = re.compile(r"\bTensor\(| \(at |match_cast|call_tir|LegalizeOps|std::|deuteron::|\b[lg]v[0-9]*\b")


def tensor(name, dims, raw=None, dtype=FLOAT):
    result = TensorProto(name=name, data_type=dtype, dims=dims)
    if raw is not None:
        result.raw_data = raw
    return result


def external(name, location, dims=(2, 3), offset=None, length=None):
    result = TensorProto(name=name, data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, entry in (("location", location), ("offset", offset), ("length", length)):
        if entry is not None:
            result.external_data.add(key=key, value=str(entry))
    return result


def add(initializer):
    return model([node("Add", ["x", "w"], ["y"], "/add")], [initializer])


def field(number, payload):
    """A length-delimited field of the wire format."""
    length, size = len(payload), b""
    while length >= 128:
        size += bytes([length & 127 | 128])
        length >>= 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + payload


def deep_graphs(depth):
    """Graphs in attributes of nodes of graphs, deeper than protobuf's own library writes them."""
    graph = b""
    for _ in range(depth):
        graph = field(1, field(5, field(6, graph)))
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


def one_node(op, *integers, rank=1, **attributes):
    """A node, /it, of x and constant integers; null is an operand left out."""
    names = ["" if values is None else f"c{i}" for i, values in enumerate(integers)]
    constants = [numpy_helper.from_array(np.array(values, np.int64), f"c{i}") for i, values in enumerate(integers) if values is not None]
    return model([node(op, ["x", *names], ["y"], "/it", **attributes)], constants, [value("x", (2,) * rank)], [helper.make_empty_tensor_value_info("y")])


def trees(feature, targets, columns=3):
    """One tree of a node that asks for a feature, and two leaves."""
    attributes = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [feature, 0, 0], "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
                  "nodes_values": [0.5, 0.0, 0.0], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0], "target_treeids": [0, 0],
                  "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0]}
    forest = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], name="/it", domain="ai.onnx.ml", n_targets=targets, **attributes)
    result = model([forest], inputs=[value("x", (2, columns))], outputs=[helper.make_empty_tensor_value_info("y")])
    result.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return result


def damaged_trees(folder):
    for feature in (-1, 3, 2**31, 2**63 - 1):
        yield f"a tree of feature {feature}", trees(feature, 1), [], MODEL, ["/it", f"no feature {feature}"]
    yield "a tree of a feature that no place holds", trees(2**62, 1, "n"), [], UNSUPPORTED, ["/it", "features"]
    for targets in (0, -1):
        yield f"trees of {targets} targets", trees(0, targets), [], MODEL, ["/it", f"n_targets is {targets}"]
    for targets in (2**31, 2**61 + 1):
        yield f"trees of {targets} targets", trees(0, targets), [], UNSUPPORTED, ["/it", "targets"]
    yield "a tree of a symbolic number of features", trees(4, 1, "n"), ["--input", f"x={folder / 'x.npy'}"], USAGE, ["/it", "4"]


def unlike_their_signature():
    """Nodes that are no nodes of their operator, at the operator set of the model."""
    yield "an attribute of nobody", model([node("Relu", ["x"], ["y"], "/it", perm=[1, 0])]), [], MODEL, ["/it", "no attribute 'perm'"]
    lengths = [numpy_helper.from_array(np.ones(shape, np.float32), name) for name, shape in (("w", (1, 4, 3)), ("r", (1, 4, 4)), ("b", (1, 8)))]
    for length in (-1, 3):
        yield f"a sequence of {length}", model([node("RNN", ["x", "w", "r", "b", "s"], ["y"], "/it", hidden_size=4)], [*lengths, numpy_helper.from_array(np.array([2, length], np.int32), "s")],
                                               [value("x", (2, 2, 3))]), [], MODEL, ["/it", "longer than 2"]
    scales = [numpy_helper.from_array(np.ones((2, 2), np.float32), "s")]
    yield "blocks of another size", model([node("QuantizeLinear", ["x", "s"], ["y"], "/it", axis=1, block_size=7)], scales, opset=21), [], MODEL, ["/it", "2 blocks of 7"]
    yield "grids of another batch", model([node("AffineGrid", ["x", "s"], ["y"], "/it")], [numpy_helper.from_array(np.array([3, 1, 4, 4]), "s")], [value("x", (2, 2, 3))], opset=20), [
    ], MODEL, ["/it", "3 images by 2"]
    yield "no result", model([node("Relu", ["x"], [""], "/it"), node("Neg", ["x"], ["y"])]), [], MODEL, ["/it", "output 0 is missing"]
    rows = [numpy_helper.from_array(np.zeros((4, 16), np.uint8), "d"), numpy_helper.from_array(np.ones((2, 2), np.float32), "s"), numpy_helper.from_array(np.array([3]), "i")]
    blocked = model([node("GatherBlockQuantized", ["d", "i", "s"], ["z"], "/it", domain="com.microsoft", block_size=16, bits=4), node("Add", ["x", "z"], ["y"])], rows)
    blocked.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    yield "scales of fewer rows", blocked, [], MODEL, ["/it", "input 2 is of another length"]
    yield "no kernel_shape", model([node("LpPool", ["x"], ["y"], "/it")], inputs=[value("x", (1, 1, 4, 4))]), [], MODEL, ["/it", "'kernel_shape' is missing"]
    yield "an attribute of an earlier version", model([node("ReduceMean", ["x"], ["y"], "/it", axes=[1])], opset=18), [], MODEL, ["/it", "'axes'", "18"]
    yield "an attribute of a later version", model([node("Softmax", ["x"], ["y"], "/it", stash=1)]), [], MODEL, ["/it", "'stash'"]
    yield "too many inputs", model([node("Add", ["x", "x", "x"], ["y"], "/it")]), [], MODEL, ["/it", "3 inputs", "2 at most"]
    yield "too many outputs", model([node("Relu", ["x"], ["y", "z"], "/it")]), [], MODEL, ["/it", "2 outputs", "1 at most"]
    halves = numpy_helper.from_array(np.ones((2, 3), np.float16), "w")
    yield "operands of two dtypes", model([node("Add", ["x", "w"], ["y"], "/it")], [halves]), [], MODEL, ["/it", "float32", "float16", "one dtype"]
    yield "an operand of floats", model([node("Gather", ["x", "x"], ["y"], "/it")]), [], MODEL, ["/it", "input 1", "int32 or int64"]
    shape = numpy_helper.from_array(np.array([3, 2], np.int32), "s")
    places = helper.make_tensor("s", TensorProto.UINT64, (1,), [0])
    yield "a magnitude of booleans", model([node("Abs", ["b"], ["z"], "/it"), node("Relu", ["x"], ["y"])], [numpy_helper.from_array(np.array([True]), "b")]), [], MODEL, [
        "/it", "input 0 is bool", "numbers"]
    for op in ("IsInf", "IsNaN"):
        yield f"{op} of booleans", model([node(op, ["b"], ["z"], "/it"), node("Relu", ["x"], ["y"])], [numpy_helper.from_array(np.array([True]), "b")], opset=20), [], MODEL, [
            "/it", "input 0 is bool", "floats"]
    yield "indices of uint64", model([node("Gather", ["x", "s"], ["y"], "/it")], [places]), [], MODEL, ["/it", "input 1", "int32 or int64"]
    ratios = helper.make_tensor("r", FLOAT, (2,), [0.5, 0.5])
    yield "two ratios of a dropout", model([node("Dropout", ["x", "r"], ["y"], "/it")], [ratios]), [], MODEL, ["/it", "input 1", "scalar"]
    shifted = node("Transpose", ["x"], ["y"], "/it", perm=[1, 0])
    shifted.attribute[0].type = AttributeProto.FLOATS
    yield "an attribute of two types", model([shifted]), [], MODEL, ["/it", "'perm'", "another type"]
    body = helper.make_graph([node("Add", ["a", "b"], ["c"])], "b", [value("a", (3,)), value("b", (3,))], [value("c", (3,))])
    yield "sequences of two lengths", model([node("Scan", ["x", "w"], ["y"], "/it", body=body, num_scan_inputs=2)], [numpy_helper.from_array(np.ones((5, 3), np.float32), "w")]), [
    ], MODEL, ["/it", "2 elements", "5 of another"]
    signal = [value("x", (1, 64, 1)), value("w", (5,))]
    whole = [numpy_helper.from_array(np.array(number), name) for name, number in (("s", 4), ("l", 8))]
    yield "a window of another length", model([node("STFT", ["x", "s", "w", "l"], ["y"], "/it")], whole, signal, opset=17), [], MODEL, ["/it", "window of 5", "frames of 8"]
    listed = [numpy_helper.from_array(np.array(number), name) for name, number in (("s", 4), ("l", [5]))]
    yield "a list of lengths", model([node("STFT", ["x", "s", "w", "l"], ["y"], "/it")], listed, signal, opset=17), [], MODEL, ["/it", "scalars"]
    for hertz in (-600.0, 3e38, np.inf, np.nan):
        numbers = [numpy_helper.from_array(np.array(number, dtype), name)
                   for name, number, dtype in (("m", 8, np.int64), ("l", 256, np.int64), ("r", 8000, np.int64), ("a", hertz, np.float32), ("b", hertz, np.float32))]
        yield f"a filter bank from {hertz} Hz", model([node("MelWeightMatrix", ["m", "l", "r", "a", "b"], ["y"], "/it")], numbers, outputs=[
            helper.make_empty_tensor_value_info("y")]), [], MODEL, ["/it", "no filter bank"]
    far = [numpy_helper.from_array(np.array([0, 0, 1, 1e20], np.float32), "r"), numpy_helper.from_array(np.array([1, 1], np.float32), "s")]
    for mode in ("nearest", "linear"):
        yield f"a region far away, {mode}", model([node("Resize", ["x", "r", "s"], ["y"], "/it", mode=mode, coordinate_transformation_mode="tf_crop_and_resize")], far), [
        ], MODEL, ["/it", "its region lies at"]
    overlap = [numpy_helper.from_array(np.array(number, dtype), name) for name, number, dtype in (("m", 2, np.int64), ("o", 1.5, np.float32))]
    yield "an overlap of more than all", model([node("NonMaxSuppression", ["x", "w", "m", "o"], ["y"], "/it")], overlap, [value("x", (1, 2, 4)), value("w", (1, 1, 2))], [
        helper.make_empty_tensor_value_info("y")]), [], MODEL, ["/it", "1.5", "from 0 to 1"]
    for count in (-1, 0):
        yield f"{count} samples", model([node("Multinomial", ["x"], ["y"], "/it", sample_size=count)], outputs=[helper.make_empty_tensor_value_info("y")]), [
        ], MODEL, ["/it", f"sample_size is {count}"]
    for op in ("RandomNormal", "RandomUniform"):
        yield f"{op} of a negative dimension", model([node(op, [], ["z"], "/it", shape=[2, -1]), node("Add", ["x", "z"], ["y"])]), [], MODEL, ["/it", "a dimension of -1"]
    padded = node("ConvTranspose", ["x", "w"], ["y"], "/it", strides=[2, 2], output_padding=[0, -1])
    yield "less than no padding", model([padded], [], [value("x", (1, 1, 4, 4)), value("w", (1, 1, 2, 2))], [helper.make_empty_tensor_value_info("y")]), [
    ], MODEL, ["/it", "output_padding is -1"]
    regions = [value("x", (2, 1, 4, 4)), value("r", (1, 4))]
    for image, samples, words in ((-1, 0, ["a region of image -1"]), (0, -1, ["sampling_ratio is -1"])):
        yield words[0], model([node("RoiAlign", ["x", "r", "b"], ["y"], "/it", sampling_ratio=samples)], [numpy_helper.from_array(np.array([image]), "b")], regions, [
            helper.make_empty_tensor_value_info("y")]), [], MODEL, ["/it", *words]
    steps = [numpy_helper.from_array(np.array([1, 3e30], np.float32), "s")]
    yield "a scale beyond all", model([node("Resize", ["x", "", "s"], ["y"], "/it")], steps), [], MODEL, ["/it", "a scale is 3e+30", "at most 1000000"]
    yield "a shape of int32", model([node("Reshape", ["x", "s"], ["y"], "/it")], [shape]), [], MODEL, ["/it", "input 1", "int64"]
    yield "a flag of 2", model([node("ReduceMean", ["x"], ["y"], "/it", keepdims=2)]), [], MODEL, ["/it", "keepdims", "0 or 1"]
    turned = node("Transpose", ["x"], ["y"], "/it")
    turned.attribute.append(AttributeProto(name="perm", type=AttributeProto.INTS))
    yield "an empty permutation", model([turned]), [], MODEL, ["/it", "perm"]
    yield "uneven parts", model([node("Split", ["x"], ["y", "z"], "/it", axis=1)], outputs=[value("y"), value("z")]), [], MODEL, ["/it", "3", "2 parts"]
    deformed = [value("x", (1, 1, 3, 3)), value("w", (1, 1, 2, 2)), value("o", (1, 8, 4, 4))]
    yield "offsets of another size", model([node("DeformConv", ["x", "w", "o"], ["y"], "/it")], inputs=deformed, opset=19), [], MODEL, ["/it", "offsets is 4, not 2"]
    ints = [value("x", (1, 9, 4)), value("a", (2,), TensorProto.INT64), value("b", (2,), TensorProto.INT64)]
    yield "steps of 0 over an image of the run", model([node("Col2Im", ["x", "a", "b"], ["y"], "/it", strides=[0, 2])], inputs=ints, opset=18), [], MODEL, ["/it", "strides"]
    caches = [value("x", (2, 3, 5)), value("u", (2, 3)), value("i", (2,), TensorProto.INT64)]
    yield "an update of another rank", model([node("TensorScatter", ["x", "u", "i"], ["y"], "/it")], inputs=caches, opset=24), [], MODEL, ["/it", "rank"]
    yield "a dtype of more than 32 bits", model([node("Cast", ["x"], ["y"], "/it", to=2**32 + 1)]), [], MODEL, ["/it", str(2**32 + 1)]
    images = [value("x", (1, 1, 3, 3)), value("w", (1, 1, 2, 2)), value("b", ())]
    yield "a bias without an axis", model([node("Conv", ["x", "w", "b"], ["y"], "/it")], inputs=images), [], MODEL, ["/it", "bias", "rank 0"]
    branch = helper.make_graph([node("Relu", ["x"], ["r"], "/inner", perm=[1])], "b", [], [value("r")])
    other = helper.make_graph([node("Relu", ["x"], ["s"])], "b", [], [value("s")])
    always = numpy_helper.from_array(np.array(True), "c")
    yield ("a branch that is never taken", model([node("If", ["c"], ["y"], "/it", then_branch=other, else_branch=branch)], [always]), [], MODEL,
           ["/inner", "no attribute 'perm'"])
    roots = helper.make_graph([node("Sqrt", ["k"], ["r"], "/inner")], "b", [], [value("r")])
    yield ("a dtype in a branch that is never taken", model([node("If", ["c"], ["y"], "/it", then_branch=other, else_branch=roots)], [always, numpy_helper.from_array(np.array([4]), "k")]), [
    ], MODEL, ["/inner", "input 0 is int64", "floats"])
    truths = helper.make_graph([node("IsInf", ["x"], ["i"]), node("Abs", ["i"], ["r"], "/inner")], "b", [], [value("r")])
    yield ("a dtype that a branch which is never taken computes", model([node("If", ["c"], ["y"], "/it", then_branch=other, else_branch=truths)], [always], opset=20), [], MODEL,
           ["/inner", "input 0 is bool", "numbers"])
    recurrent = [value("x", (2, 3, 1)), value("w", (1, 1, 1)), value("h", (1, 5, 1))]
    yield ("a state of another size", model([node("RNN", ["x", "w", "w", "", "", "h"], ["y"], "/it", hidden_size=1)], inputs=recurrent), [], MODEL,
           ["/it", "is float32[5, 1] and has to be float32[3, 1]"])
    yield "floats that are dequantised", model([node("DequantizeLinear", ["x", "s"], ["y"], "/it")], [numpy_helper.from_array(np.float32(1), "s")]), [], MODEL, ["/it", "quantised"]
    quantised = [numpy_helper.from_array(np.ones((2, 2), np.uint8), "a"), numpy_helper.from_array(np.float32(1), "s"), numpy_helper.from_array(np.uint8(0), "z")]
    yield ("an operand in the middle left out", model([node("QLinearMatMul", ["a", "s", "z", "a", "", "z", "s", "z"], ["y"], "/it")], quantised), [], MODEL,
           ["/it", "input 4 is missing"])
    for steps in (-1, 4, 2**31):
        turned = node("ReverseSequence", ["x", "l"], ["y"], "/it", time_axis=1, batch_axis=0)
        yield f"a sequence of {steps} steps", model([turned], [numpy_helper.from_array(np.array([1, steps]), "l")]), [], MODEL, ["/it", f"{steps} steps"]
    yield "parts of 0 and of what is left", model([node("Reshape", ["x", "s"], ["y"], "/it", allowzero=1)], [numpy_helper.from_array(np.array([0, -1]), "s")]), [], MODEL, ["/it", "-1"]
    body = helper.make_graph([node("Relu", ["e"], ["r"])], "b", [value("e", (3,))], [value("r", (3,))])
    for scanned in (0, 2, -(2**63)):
        yield f"a scan of {scanned} inputs", model([node("Scan", ["x"], ["y"], "/it", body=body, num_scan_inputs=scanned)]), [], MODEL, ["/it", str(scanned)]
    part = [numpy_helper.from_array(np.array([4]), "s")]
    yield "one part of another length", model([node("Split", ["x", "s"], ["y"], "/it", axis=1)], part), [], MODEL, ["/it", "add up to 4", "length 3"]
    yield "parts without a number", model([node("Split", ["x"], ["y"], "/it", axis=1)], opset=18), [], MODEL, ["/it", "num_outputs"]


def enormous(folder):
    """Sizes that no tensor has, and others that contradict each other: refused at once, and by name."""
    for size in (2**41, 2**61, 2**62, 2**63 - 1):
        yield f"pads of {size}", one_node("Pad", [size, size]), [], UNSUPPORTED, ["/it", "pads", str(size)]
        yield f"repeats of {size}", one_node("Tile", [size]), [], UNSUPPORTED, ["/it", "repeats", str(size)]
        yield f"a shape of {size}", one_node("Expand", [size, size]), [], UNSUPPORTED, ["/it", str(size)]
        for mode in ("nearest", "linear"):
            yield f"resized to {size}, {mode}", one_node("Resize", None, None, [1, 1, size, 2], rank=4, mode=mode), [], UNSUPPORTED, ["/it", "sizes", str(size)]
    for pads in ([2**63 - 1, 2], [-(2**63), 0], [-(2**63), -(2**63)]):
        known = [numpy_helper.from_array(np.array([1, 2, 3]), "s"), numpy_helper.from_array(np.array(pads), "p")]
        for name, padded in (("an operand", one_node("Pad", pads)), ("of a constant", model([node("Pad", ["s", "p"], ["y"], "/it")], known, outputs=[helper.make_empty_tensor_value_info("y")])),
                             ("an attribute", model([node("Pad", ["x"], ["y"], "/it", pads=pads)], [], [value("x", (2,))], [helper.make_empty_tensor_value_info("y")], 9))):
            yield f"pads of {pads}, {name}", padded, [], UNSUPPORTED, ["/it", "pads", str(pads[0])]
    for least in (-(2**63), 2**63 - 1):
        yield f"batch_dims of {least}", one_node("GatherND", [[0]], batch_dims=least), [], MODEL, ["/it", f"batch_dims of {least}", "rank 1"]
    yield "pads that leave less than nothing", one_node("Pad", [-2, -1]), [], MODEL, ["/it", "axis 0", "-1 elements"]
    for size in (3, 2**31, 2**32, 2**63 - 1):
        for op in ("DepthToSpace", "SpaceToDepth"):
            yield f"blocks of {size}, {op}", one_node(op, rank=4, blocksize=size), [], MODEL, ["/it", "blocksize"]
    yield "a product that overflows", one_node("Tile", [2**40, 2**40], rank=2), [], UNSUPPORTED, ["/it", "elements"]
    yield "a tensor of too many elements", one_node("Expand", [2**30, 2**30, 2]), [], UNSUPPORTED, ["/it", "elements"]
    yield "repeats of another rank", one_node("Tile", [2], rank=2), [], MODEL, ["/it", "rank"]
    yield "repeats of more axes", one_node("Tile", [2, 2, 2], rank=2), [], MODEL, ["/it", "rank"]
    for limit in (np.inf, np.nan):
        bounds = [numpy_helper.from_array(np.array(bound, np.float32), name) for name, bound in (("a", 0), ("b", limit), ("c", 1))]
        yield f"a range to {limit}", model([node("Range", ["a", "b", "c"], ["r"], "/it"), node("Add", ["x", "r"], ["y"])], bounds), [], MODEL, ["/it", str(limit)]
    for bounds, length in (((np.int64(-(2**63)), np.int64(2**63 - 1), np.int64(1)), "1.84467e+19"), ((np.int64(0), np.int64(2**63 - 1), np.int64(3)), "3.07e+18"),
                           ((np.float32(0), np.float32(1e30), np.float32(1)), "1e+30")):
        parts = [numpy_helper.from_array(np.array(bound), name) for name, bound in zip("abc", bounds)]
        yield (f"a range of {length}", model([node("Range", ["a", "b", "c"], ["y"], "/it")], parts, outputs=[helper.make_empty_tensor_value_info("y")]), [],
               UNSUPPORTED if "3.07" in length else MODEL, ["/it", length])
    weights = [numpy_helper.from_array(np.zeros(shape, np.float32), name) for name, shape in (("w", (1, 20, 3)), ("r", (1, 20, 5)))]
    yield ("a hidden size that the weights have not", model([node("LSTM", ["x", "w", "r"], ["y"], "/it", hidden_size=7)], weights, [value("x", (4, 2, 3))],
                                                            [value("y", (4, 1, 2, 5))]), [], MODEL, ["/it", "hidden_size", "7", "5"])
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3), }".ljust(117) + "\n"
    (folder / "negative.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(24))
    yield ("an array of negative shape", model([node("Relu", ["x"], ["y"])]), ["--input", f"x={folder / 'negative.npy'}"], USAGE, ["negative.npy", "-2"])


def of_unknown_rank():
    """What only the run could tell the rank of: the node, and what to do."""
    def parsed(text):
        return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    yield "a loop that changes a rank", parsed("""g (int64 n, float[2,3] x) => (float y) { t = Constant <value: tensor = bool {1}> () at = Constant <value: tensor = int64[1] {0}> ()
        y = Loop (n, t, x) <body = b (int64 i, bool c, float a) => (bool d, float z) { d = Identity (c) z = Unsqueeze (a, at) }> }"""), [], UNSUPPORTED, [
        "Loop", "'y'", "float32[2, 3]", "float32[1, 2, 3]", "Reshape"]
    yield "a shape of any length", parsed("g (float[N] x, int64[K] s) => (float y) { y = Reshape (x, s) }"), [], UNSUPPORTED, ["Reshape", "'y'", "K", "--shape"]
    yield "an expansion to any rank", parsed("g (float[N] x, int64[K] s) => (float y) { y = Expand (x, s) }"), [], UNSUPPORTED, ["Expand", "'y'", "--shape"]
    yield "a sequence of two ranks", parsed("""g (float[N] x, float[N,M] z, int64 i) => (float y) {
        s = SequenceConstruct (x, z) y = SequenceAt (s, i) }"""), [], UNSUPPORTED, ["SequenceAt", "'y'", "rank", "Reshape"]
    yield "a sequence of any length as a result", parsed("""g (float[N] x, int64[K] k) => (seq(float[M]) y) {
        y = SplitToSequence (x, k) }"""), [], UNSUPPORTED, ["'y'", "ConcatFromSequence"]


def of_nothing():
    """What would be taken from axes without elements, from windows of padding alone, and by operands of other lengths."""
    def made(op, inputs, constants=(), opset=21, **attributes):
        shapes = [value(name, shape) for name, shape in inputs.items() if name and shape is not None]
        return model([node(op, list(inputs), ["y"], "/it", **attributes)], [numpy_helper.from_array(array, name) for name, array in constants], shapes,
                     [helper.make_empty_tensor_value_info("y")], opset)

    for mode in ("nearest", "linear", "cubic"):
        resized = node("Resize", ["x", "", "", "z"], ["y"], "/it", mode=mode)
        yield f"nothing resized, {mode}", model([resized], [numpy_helper.from_array(np.array([1, 1, 2, 4]), "z")], [value("x", (1, 1, 0, 4))], [
            helper.make_empty_tensor_value_info("y")]), [], MODEL, ["/it", "an axis that is resized is 0"]
    for mode in ("edge", "wrap", "reflect"):
        yield f"nothing repeated, {mode}", made("Pad", {"x": (0, 3), "p": None}, [("p", np.array([1, 0, 0, 0]))], mode=mode), [], MODEL, ["/it", "repeated is 0"]
    for padding in ("zeros", "border", "reflection"):
        yield f"samples of nothing, {padding}", made("GridSample", {"x": (1, 1, 0, 4), "g": (1, 2, 2, 2)}, padding_mode=padding), [], MODEL, ["/it", "of the image is 0"]
    yield "regions of nothing", made("RoiAlign", {"x": (1, 1, 4, 0), "r": (1, 4), "b": None}, [("b", np.array([0]))]), [], MODEL, ["/it", "of the image is 0"]
    tables = [("i", np.zeros((1, 3), np.int32)), *((name, np.ones(shape, np.float32)) for name, shape in (("w", (5, 8)), ("p", (8,)), ("g", (8,)), ("b", (8,))))]
    embedded = model([node("EmbedLayerNormalization", ["i", "", "w", "p", "", "g", "b"], ["y"], "/it", domain="com.microsoft")],
                     [numpy_helper.from_array(array, name) for name, array in tables], outputs=[helper.make_empty_tensor_value_info("y")])
    embedded.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    yield "a table of one axis", embedded, [], MODEL, ["/it", "fewer axes"]
    for op in ("ArgMax", "ArgMin"):
        yield f"{op} of nothing", made(op, {"x": (0, 3)}, axis=0), [], MODEL, ["/it", "the axis that is searched is 0"]
    yield "displaced samples of nothing", made("DeformConv", {"x": (1, 1, 0, 0), "w": (1, 1, 2, 2), "o": (1, 8, 1, 1)}, pads=[1, 1, 1, 1]), [], MODEL, ["/it", "of the image is 0"]
    crops = made("CropAndResize", {"x": (1, 1, 4, 0), "b": (1, 4), "i": None, "z": None}, [("i", np.array([0], np.int32)), ("z", np.array([2, 2], np.int32))], domain="com.microsoft")
    crops.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    yield "crops of nothing", crops, [], MODEL, ["/it", "of the image is 0"]
    for pads in ([2, 0, 0, 0], [0, 0, 0, 2]):
        for op in ("MaxPool", "AveragePool"):
            yield f"{op} of padding, {pads}", made(op, {"x": (1, 1, 4, 4)}, kernel_shape=[2, 2], pads=pads), [], MODEL, ["/it", "a window lies in the padding alone"]
    for op, dtype in (("QuantizeLinear", np.float32), ("DequantizeLinear", np.uint8)):
        blocks = [("q", np.ones((2, 6), dtype)), ("s", np.ones((2, 2), np.float32))]
        yield f"{op} by blocks of no size", made(op, {"q": None, "s": None}, blocks, axis=1), [], MODEL, ["/it", "block_size"]
    deformed = {"x": (2, 1, 3, 3), "w": (1, 1, 2, 2), "o": (2, 8, 2, 2)}
    for axis in (0, 2, 3):
        mask = [2, 4, 2, 2]
        mask[axis] = 1
        yield f"a mask of another length along {axis}", made("DeformConv", {**deformed, "": None, "m": tuple(mask)}), [], MODEL, ["/it", "input 'm' is float32"]
    yield "offsets of another batch", made("DeformConv", {**deformed, "o": (1, 8, 2, 2)}), [], MODEL, ["/it", "input 'o' is float32"]


def of_microsoft():
    """Operators of com.microsoft, and what to do instead."""
    def made(op, inputs, constants=None, opset=17, domain="com.microsoft", outputs=1, **attributes):
        names = [f"y{n}" for n in range(outputs)]
        values = [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items() if kind is not None and name not in (constants or {})]
        one = model([node(op, [name if name[0] != "-" else "" for name in inputs], names, "/it", domain=domain, **attributes)],
                    [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()], values, [helper.make_empty_tensor_value_info(name) for name in names], opset)
        one.opset_import.extend(helper.make_opsetid(name, 1) for name in {"com.microsoft", domain} - {""})
        return one

    def floats(*shape):
        return FLOAT, shape

    def ints(*shape):
        return TensorProto.INT32, shape

    def longs(*shape):
        return TensorProto.INT64, shape

    yield "bits of another number", made("BitCast", {"x": floats(2)}, opset=26, domain="", to=TensorProto.DOUBLE), [], MODEL, ["/it", "BitCast", "float32 and float64"]
    distance = {"t": floats(1, 2), "q": longs(), "k": longs()}
    yield "too few buckets", made("RelativePositionBias", distance, max_distance=8), [], MODEL, ["/it", "1 buckets", "up to 8"]
    lengths = {"q": np.array(3), "k": np.array(4)}
    yield "more keys than queries", made("RelativePositionBias", {**distance, "t": floats(8, 2)}, lengths, max_distance=8), [], MODEL, ["/it", "4", "3"]
    yield "an odd gate", made("GatedRelativePositionBias", {"x": floats(1, 3, 4), "b": floats(4), "r": floats(1, 1, 3, 3), "w": floats(4, 3), "c": floats(3), "e": floats(1, 1, 1, 1)},
                              num_heads=1), [], MODEL, ["/it", "3 columns"]
    yield "no size of repeated words", made("NGramRepeatBlock", {"x": longs(2, 3), "s": floats(2, 4)}, ngram_size=0), [], MODEL, ["/it", "ngram_size is 0"]
    yield "hashes of halves", made("MurmurHash3", {"x": (TensorProto.FLOAT16, (2,))}), [], UNSUPPORTED, ["/it", "float16", "cast"]
    yield "whole spectra", made("Rfft", {"x": floats(2, 8)}, onesided=0), [], UNSUPPORTED, ["/it", "onesided", "DFT"]
    yield "a signal of more axes", made("Rfft", {"x": floats(2, 8)}, signal_ndim=3), [], MODEL, ["/it", "3 axes", "of 2"]
    yield "no complex numbers", made("ComplexMul", {"x": floats(2, 3), "z": floats(2, 2)}), [], MODEL, ["/it", "complex numbers", "3"]
    yield "a mask in bits", made("BitmaskDropout", {"x": floats(2, 3)}, outputs=2), [], UNSUPPORTED, ["/it", "bits", "leave"]
    yield "pads twice", made("ConvTransposeWithDynamicPads", {"x": floats(1, 1, 3, 3), "w": floats(1, 1, 2, 2), "p": longs(4)}, auto_pad="VALID"), [], MODEL, ["/it", "auto_pad"]
    yield "positions with channels last", made("MaxPool", {"x": floats(1, 4, 4, 2)}, domain="com.ms.internal.nhwc", outputs=2, kernel_shape=[2, 2]), [], UNSUPPORTED, ["/it", "leave"]
    yield "a packed query with keys", made("PackedMultiHeadAttention", {"q": floats(4, 2, 3, 4), "k": floats(4, 8), "v": floats(4, 8), "-": None, "o": ints(1, 4), "n": ints(2)},
                                           num_heads=2), [], MODEL, ["/it", "leave"]
    attention = {"x": floats(1, 1, 4), "w": floats(4, 12), "b": floats(12), "-": None, "p": floats(2, 1, 1, 8, 4), "--": None, "n": ints(1)}
    yield "caches that are not written in place", made("DecoderMaskedSelfAttention", attention, outputs=2, num_heads=1), [], UNSUPPORTED, ["/it", "past_present_share_buffer"]
    yield "heads that are no blocks", made("DecoderMaskedSelfAttention", {**attention, "w": floats(4, 6), "b": floats(6), "p": floats(2, 1, 1, 8, 2)}, outputs=2, num_heads=1,
                                           past_present_share_buffer=1), [], MODEL, ["/it", "heads of 2", "16 bytes"]
    blocks = {"q": floats(1, 2, 8), "k": floats(1, 2, 8), "v": floats(1, 2, 8), "pk": floats(1, 2, 32, 4), "pv": floats(1, 2, 32, 4), "r": ints(3, 3), "c": ints(3, 4), "t": ints(), "l": ints(1)}
    yield "layouts for some heads", made("SparseAttention", blocks, outputs=3, num_heads=2, kv_num_heads=2, sparse_block_size=16), [], MODEL, ["/it", "3 layouts", "2 heads"]
    net = {"q": floats(4, 2, 4), "k": floats(4, 2, 4), "v": floats(4, 3, 4), "n": ints(3)}
    yield "heads that are no multiple", made("GatedDeltaNet", net, update_rule="linear"), [], MODEL, ["/it", "3 heads", "2"]
    yield "an unknown rule", made("GatedDeltaNet", {**net, "v": floats(4, 2, 4)}, update_rule="none"), [], MODEL, ["/it", "'none'"]
    line = {"x": floats(4, 2), "w": floats(2, 1, 3), "n": ints(3), "-": None, "s": floats(2, 2, 2)}
    yield "captures without a number", made("VarlenCausalConvWithState", line, outputs=3, state_update_capacity=2), [], MODEL, ["/it", "capture_count"]
    decoder = generation_cases.gpt(layers=1)
    numbers = {"n": np.array([8], np.int32), "k": np.array([2], np.int32), "r": np.array([3], np.int32)}
    text = {"x": ints(2, 8), "n": ints(1)}
    words = {"pad_token_id": 0, "eos_token_id": 1, "decoder": decoder}
    yield "no room for words", made("GreedySearch", text, numbers, **words), [], MODEL, ["/it", "max_length", "is 0"]
    yield "a search with an encoder", made("GreedySearch", {**text, "x": ints(2, 3)}, numbers, model_type=1, **words), [], UNSUPPORTED, ["/it", "BeamSearch"]
    beams = {"x": ints(2, 3), "n": ints(1), "-": None, "k": ints(1), "r": ints(1)}
    yield "more texts than beams", made("BeamSearch", beams, numbers, **words), [], MODEL, ["/it", "num_return_sequences is 3"]
    yield "an unknown kind of model", made("BeamSearch", beams, numbers, model_type=7, **words), [], MODEL, ["/it", "model_type of 7"]
    yield "no encoder", made("BeamSearch", beams, {**numbers, "r": numbers["k"]}, model_type=1, decoder_start_token_id=0, **words), [], UNSUPPORTED, ["/it", "(batch, 1)"]
    short = generation_cases.gpt(layers=1)
    del short.output[1]
    yield "a decoder without caches", made("GreedySearch", {**text, "x": ints(2, 3)}, numbers, **{**words, "decoder": short}), [], UNSUPPORTED, ["/it", "4 inputs and 1 results", "past_0"]


def cases(folder):
    """(name, model or bytes or path, flags, exit status, words of the message)"""
    good = model([node("Relu", ["x"], ["y"], "/relu")])
    np.save(folder / "wrong_shape.npy", np.zeros((3, 3), np.float32))
    np.save(folder / "wrong_dtype.npy", np.zeros((2, 3), np.float64))
    np.save(folder / "x.npy", np.zeros((2, 3), np.float32))
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    (folder / "short.bin").write_bytes(bytes(8))
    if not (folder / "link.bin").exists():
        (folder / "link.bin").symlink_to(folder.parent / "secret.bin")
    yield "missing file", folder / "nowhere.onnx", [], MODEL, ["nowhere.onnx"]
    yield "a directory", folder, [], MODEL, ["directory"]
    yield "empty file", b"", [], MODEL, ["not an ONNX model"]
    yield "text", b"This is no model at all, only words.\n", [], MODEL, ["not an ONNX model"]
    yield "random bytes", np.random.default_rng(0).bytes(4096), [], MODEL, ["not an ONNX model"]
    data = model([node("MatMul", ["x", "w"], ["y"])],
                 [numpy_helper.from_array(np.ones((3, 64), np.float32), "w")], outputs=[value("y", (2, 64))]).SerializeToString()
    for sixteenth in range(16):
        yield f"truncated at {sixteenth}/16", data[: len(data) * sixteenth // 16], [], MODEL, ["model"]
    yield "wrong input name", good, ["--input", f"z={folder / 'x.npy'}"], USAGE, ["z"]
    yield "wrong input shape", good, ["--input", f"x={folder / 'wrong_shape.npy'}"], USAGE, ["x"]
    yield "wrong input dtype", good, ["--input", f"x={folder / 'wrong_dtype.npy'}"], USAGE, ["float64"]
    yield "missing input file", good, ["--input", f"x={folder / 'none.npy'}"], USAGE, ["none.npy"]
    yield "shape of unknown input", good, ["--shape", "z=2,3"], USAGE, ["z"]
    yield "shape that contradicts", good, ["--shape", "x=2,4"], USAGE, ["x"]
    yield ("unsupported ops", model([node("Frobnicate", ["x"], ["a"], "/one"), node("Gizmo", ["a"], ["b"], "/two"),
                                     node("Frobnicate", ["b"], ["y"], "/three")]), [], UNSUPPORTED,
           ["Frobnicate", "Gizmo", "/one", "/two", "/three"])
    yield "unknown domain", model([node("Relu", ["x"], ["y"], "/mine", domain="my.own")]), [], UNSUPPORTED, ["my.own", "/mine"]
    yield "operator of an opset too new", model([node("Reluish", ["x"], ["y"])], opset=99), [], UNSUPPORTED, ["Reluish", "99"]
    yield "operator younger than the opset", model([node("Erf", ["x"], ["y"])], opset=3), [], UNSUPPORTED, ["Erf", "version 3"]
    yield "opset below the first", model([node("Relu", ["x"], ["y"])], opset=-1), [], UNSUPPORTED, ["-1"]
    yield ("unsupported dtype", model([node("Identity", ["x"], ["y"])], inputs=[value("x", dtype=TensorProto.STRING)]), [],
           UNSUPPORTED, ["string", "x", "look texts up before the model"])
    yield ("complex dtype", model([node("Identity", ["x"], ["y"])], inputs=[value("x", dtype=TensorProto.COMPLEX64)]), [],
           UNSUPPORTED, ["complex64", "x", "real and imaginary parts along an axis"])
    yield ("cycle", model([node("Add", ["x", "b"], ["a"], "/first"), node("Relu", ["a"], ["b"], "/second"),
                           node("Relu", ["b"], ["y"])]), [], MODEL, ["cycle", "/first", "/second"])
    yield "undefined name", model([node("Add", ["x", "ghost"], ["y"], "/add")]), [], MODEL, ["ghost", "/add"]
    yield ("name defined twice", model([node("Relu", ["x"], ["y"], "/one"), node("Abs", ["x"], ["y"], "/two")]), [], MODEL,
           ["'y'", "/one", "/two"])
    yield "input defined twice", model([node("Relu", ["x"], ["x"], "/one")], outputs=[value("x")]), [], MODEL, ["'x'", "/one"]
    yield "missing output", model([node("Relu", ["x"], ["z"], "/relu")]), [], MODEL, ["'y'"]
    yield "external data by ..", add(external("w", "../secret.bin")), [], MODEL, ["secret.bin", "outside"]
    yield "external data by absolute path", add(external("w", str(folder.parent / "secret.bin"))), [], MODEL, ["outside"]
    yield "external data by a link", add(external("w", "link.bin")), [], MODEL, ["link.bin", "outside"]
    yield "external data missing", add(external("w", "gone.bin")), [], MODEL, ["gone.bin"]
    yield "external data too short", add(external("w", "short.bin")), [], MODEL, ["short.bin", "'w'"]
    yield "external offset beyond", add(external("w", "short.bin", offset=1 << 40)), [], MODEL, ["short.bin"]
    yield "external length overflows", add(external("w", "short.bin", offset=4, length=(1 << 63) - 1)), [], MODEL, ["short.bin"]
    yield "raw data too short", add(tensor("w", [2, 3], bytes(20))), [], MODEL, ["'w'", "24", "20"]
    yield "no data", add(tensor("w", [2, 3])), [], MODEL, ["'w'"]
    yield "dimensions overflow", add(tensor("w", [1 << 31, 1 << 31, 1 << 31], b"")), [], UNSUPPORTED, ["'w'", "elements"]
    yield "negative dimension", add(tensor("w", [-2, 3], b"")), [], MODEL, ["'w'", "negative"]
    yield ("input dimensions overflow", model([node("Relu", ["x"], ["y"])], inputs=[value("x", (1 << 40, 1 << 40))],
                                              outputs=[value("y", (1 << 40, 1 << 40))]), [], UNSUPPORTED, ["'x'", "elements"])
    yield ("shapes that cannot be broadcast", add(numpy_helper.from_array(np.ones((4, 5), np.float32), "w")), [], MODEL,
           ["/add", "(2, 3)", "(4, 5)"])
    yield ("matrices that do not fit", model([node("MatMul", ["x", "w"], ["y"], "/mm")],
                                             [numpy_helper.from_array(np.ones((4, 5), np.float32), "w")]), [], MODEL,
           ["node '/mm' (MatMul): the dimensions summed over differ, 3 and 4: float32[2, 3] and float32[4, 5]"])
    yield ("reshape that does not fit", model([node("Reshape", ["x", "s"], ["y"], "/reshape")],
                                              [numpy_helper.from_array(np.array([4, 5]), "s")]), [], MODEL, ["/reshape"])
    yield ("axis out of range", model([node("Softmax", ["x"], ["y"], "/softmax", axis=5)]), [], MODEL, ["/softmax", "5"])
    yield from enormous(folder)
    yield "missing operand", model([node("Add", ["x"], ["y"], "/add")]), [], MODEL, ["/add"]
    yield "unknown element type", add(tensor("w", [2, 3], bytes(24), dtype=77)), [], MODEL, ["77"]
    yield from unlike_their_signature()
    yield from of_unknown_rank()
    yield from damaged_trees(folder)
    yield from of_nothing()
    yield from of_microsoft()
    yield "graphs too deep", deep_graphs(50), [], UNSUPPORTED, ["nesting"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "models"
        folder.mkdir()
        for name, content, flags, status, words in cases(folder):
            path = content
            if not isinstance(content, pathlib.Path):
                path = folder / "model.onnx"
                path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
            result = subprocess.run([str(arguments.binary), "run", str(path), *map(str, flags)], capture_output=True, text=True,
                                    timeout=120)
            missing = [word for word in words if word not in result.stderr]
            inner = INNER_WORDS.search(result.stderr)
            good = result.returncode == status and not missing and not inner
            failures += not good
            print(f"{'ok' if good else 'FAILED':8}{name}")
            if not good:
                print(f"        exit status {result.returncode}, expected {status}; missing words: {missing}; words of the compiler's own: {inner}")
                print("        " + "\n        ".join(result.stderr.strip().splitlines()[-4:]))
    sys.exit(5 if failures else 0)


if __name__ == "__main__":
    main()
