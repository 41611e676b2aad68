"""Inputs whose values contradict the model: each must end with an error that names what is wrong, and read nothing else.

    python tests/onnx/bad_inputs.py [--binary PATH]
"""

import argparse
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
USAGE, MODEL, UNSUPPORTED = 2, 3, 4
FAR = 10**9
X = np.ones((4, 3), np.float32)


def ints(*values):
    return np.array(values, np.int64)



class Const:
    """An input that is an initialiser."""

    def __init__(self, value, dtype=np.int64):
        self.value = np.array(value, dtype)


def cases():
    """(operator, inputs, attributes, status, what the message says); where an input is constant, the
    first dimensions of the others are symbolic."""
    yield "Gather", {"x": X, "i": ints(0, 4)}, {}, USAGE, ["index 4", "length 4"]
    yield "Gather", {"x": X, "i": ints(0, -FAR)}, {"axis": 1}, USAGE, [f"index {-FAR}", "length 3"]
    yield "Gather", {"x": X, "i": ints(0, FAR).astype(np.int32)}, {}, USAGE, [f"index {FAR}"]
    # Wherever among those that are looked at together.
    for place, wrong, dtype in itertools.product((0, 7, 8, 17, 18), (4, -5, FAR, -FAR), (np.int64, np.int32)):
        yield "Gather", {"x": X, "i": np.array([wrong if k == place else k % 4 for k in range(19)], dtype)}, {}, USAGE, [f"index {wrong}", "length 4"]
    yield "GatherElements", {"x": X, "i": ints([FAR, 0, 0])}, {}, USAGE, [f"index {FAR}", "length 4"]
    yield "GatherND", {"x": X, "i": ints([0, 2], [1, 3])}, {}, USAGE, ["index 3", "length 3"]
    yield "ScatterElements", {"x": X, "i": ints([0, -5, 0]), "u": X[:1]}, {}, USAGE, ["index -5", "length 4"]
    yield "ScatterND", {"x": X, "i": ints([0], [FAR]), "u": X[:2]}, {}, USAGE, [f"index {FAR}", "length 4"]
    yield "Compress", {"x": X, "c": np.array([1, 0, 1, 1, 1], bool)}, {"axis": 0}, USAGE, ["index 4", "length 4"]
    yield "Reshape", {"x": X, "s": ints(5, 3)}, {}, MODEL, ["15", "12"]
    yield "Reshape", {"x": X, "s": ints(-1, 5)}, {}, MODEL, ["10", "12"]
    yield "Reshape", {"x": X[:0], "s": ints(-1, 3, 0)}, {"allowzero": 1}, USAGE, ["node '/the/node', dimension 0: expected 0 or more, got -1 (of (-1, 3, 0))"]
    yield "Reshape", {"x": X, "s": ints(-2, -6)}, {}, USAGE, ["node '/the/node', dimension 0: expected 0 or more, got -2 (of (-2, -6))"]
    yield "Expand", {"x": X, "s": ints(5, 3)}, {}, MODEL, ["5", "4"]
    for op, operand, least in (("Tile", ints(2, -1), 0), ("Expand", ints(-1, 3), 0), ("CenterCropPad", ints(-1, 3), 0)):
        yield op, {"x": X, "r": operand}, {}, USAGE, ["node '/the/node': an element of the ", "is -1 and has to be at least 0"]
    yield "ConstantOfShape", {"s": ints(2, -3)}, {}, USAGE, ["node '/the/node': an element of the shape is -3 and has to be at least 0"]
    yield "TopK", {"x": X, "k": ints(-1)}, {}, USAGE, ["node '/the/node': k is -1 and has to be at least 0"]
    yield "TopK", {"x": X, "k": ints(5)}, {"axis": 0}, USAGE, ["node '/the/node': k is 5 and has to be at least 0, at most 4"]
    yield "MaxUnpool", {"x": np.ones((1, 1, 2), np.float32), "i": ints([[0, 2]]), "s": ints(1, 1, -3)}, {"kernel_shape": [2]}, USAGE, ["what the shape of the result has beyond what is unpooled is -6"]
    yield "Resize", {"x": X[:2], "r": Const([], np.float32), "s": Const([], np.float32), "z": Const([4, -2])}, {}, MODEL, ["/the/node", "an element of the sizes is -2 and has to be at least 0"]
    yield "Split", {"x": X, "s": ints(5, -1)}, {}, USAGE, ["node '/the/node': an element of the sizes of the parts is -1"]
    for depth in (0, -1):
        yield "OneHot", {"i": ints(0, 1), "d": np.array(depth), "v": X[0, :2]}, {}, USAGE, [f"node '/the/node': the depth is {depth} and has to be at least 1"]
        yield "OneHot", {"i": ints(0, 1), "d": Const(depth), "v": X[0, :2]}, {}, MODEL, ["/the/node", f"the depth is {depth} and has to be at least 1"]
        yield "Col2Im", {"x": np.ones((1, 4, 4), np.float32), "i": ints(4, 4), "b": ints(depth, 4)}, {}, USAGE, [f"an element of the shape of a block is {depth}"]
    for scale in (0, -1, np.nan, np.inf):
        yield "Resize", {"x": X, "r": X[0, :0], "s": np.array([1, scale], np.float32)}, {}, USAGE, [f"node '/the/node': a scale is {scale} and has to be above 0"]
    yield "Resize", {"x": X[:2], "r": Const([], np.float32), "s": Const([], np.float32), "z": ints(4, -2)}, {}, USAGE, ["node '/the/node': an element of the sizes is -2 and has to be at least 0"]
    # Pads of the run: what is left of an axis, and what there is to be reflected.
    for mode in ("constant", "reflect", "edge", "wrap"):
        for pads, left in (((-5, 0, 0, 0), -1), ((0, -3, 0, -1), -1), ((2, -4, 0, 0), -1)):
            yield "Pad", {"x": X, "p": ints(*pads)}, {"mode": mode}, USAGE, [f"node '/the/node': the length of an axis with its pads is {left} and has to be at least 0"]
        for pad in (-(2**63), 2**63 - 1):
            yield "Pad", {"x": X, "p": ints(pad, 0, pad, 0)}, {"mode": mode}, USAGE, [f"node '/the/node': one of the pads is {pad} and has to be at least"]
    for pads in ((4, 0, 0, 0), (0, 0, 0, 3), (2, 0, -2, 0)):
        yield "Pad", {"x": X, "p": ints(*pads)}, {"mode": "reflect"}, USAGE, ["node '/the/node': what an axis has beyond what is reflected of it is 0"]
    for image in (-1, 2):
        pixels, region = np.ones((2, 1, 4, 4), np.float32), np.array([[0, 0, 3, 3]], np.float32)
        yield "RoiAlign", {"x": pixels, "r": region, "i": ints(image)}, {}, USAGE, [f"node '/the/node': index {image} is outside of an axis of length 2"]
        yield "MaxRoiPool", {"x": pixels, "r": np.array([[image, 0, 0, 3, 3]], np.float32)}, {"pooled_shape": [2, 2]}, USAGE, [f"index {image} is outside of"]
    for overlap in (-1, 2, np.nan):
        boxes = {"b": np.ones((1, 2, 4), np.float32), "s": np.ones((1, 1, 2), np.float32), "m": ints(2), "o": np.array([overlap], np.float32)}
        yield "NonMaxSuppression", boxes, {}, USAGE, ["node '/the/node': the overlap from which boxes are left out is", "at most 1"]
    yield "Gather", {"x": X, "i": Const(5)}, {}, MODEL, ["expected 1", "got 0"]
    yield "Gather", {"x": X, "i": Const(-5)}, {}, MODEL, ["5", "got 4"]
    yield "Gather", {"x": X, "i": Const([0, 4])}, {}, USAGE, ["index 4", "length 4"]
    yield "TopK", {"x": X, "k": Const([5])}, {"axis": 0}, MODEL, ["5", "got 4"]
    yield "Split", {"x": X, "s": Const([2, 3])}, {"axis": 0}, MODEL, ["expected 3", "got 2"]
    yield "Reshape", {"x": X, "s": Const([5, 3])}, {}, MODEL, ["expected 15", "got 12"]
    yield "Squeeze", {"x": X, "a": Const([0])}, {}, MODEL, ["expected 3", "got 12"]
    for dtype in (np.int8, np.uint8, np.int32, np.int64):
        x, zero = np.arange(40, dtype=dtype), np.array([*[1] * 38, 0, 1], dtype)
        yield "Div", {"x": x, "z": zero}, {}, USAGE, ["at '/the/node': division of an integer by zero"]
        for fmod in (0, 1):
            yield "Mod", {"x": x, "z": zero}, {"fmod": fmod}, USAGE, ["at '/the/node': division of an integer by zero"]
    yield "Div", {"x": ints(1, 2), "z": Const(0)}, {}, USAGE, ["at '/the/node': division of an integer by zero"]
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        yield op, {"x": X, "t": ints(0, 1, 3, 2)}, {}, USAGE, ["index 3", "length 3"]
        yield op, {"x": X, "t": ints(0, 7, -4, 2)}, {"ignore_index": 7}, USAGE, ["index -4", "length 3"]
    for place in (-1, 4):
        yield "MaxUnpool", {"x": X[None, None, :1, :1], "i": ints(place)[None, None, None]}, {"kernel_shape": [2, 2]}, USAGE, [f"index {place}", "length 4"]
    for shape in ((1, 1, 3, 1), (2, 1, 2, 2)):
        yield "MaxUnpool", {"x": X[None, None, :1, :1], "i": ints(0)[None, None, None], "s": ints(*shape)}, {"kernel_shape": [2, 2]}, USAGE, ["node '/the/node'"]
    for length in (-1, 5):
        yield "ReverseSequence", {"x": X, "s": ints(length, 2, 3)}, {}, USAGE, [f"index {length}", "length 5"]
    for dtype in (np.int64, np.float32):
        yield "Range", {name: np.array(value, dtype) for name, value in zip("abc", (3, 3, 0))}, {}, USAGE, ["node '/the/node': the step, whatever its sign, is 0"]
    for bounds in ((0, np.nan, 1), (np.nan, 1, 1), (0, np.inf, 1), (0, 1, np.nan), (0, 1, 1e-30)):
        yield "Range", {name: np.array(value, np.float32) for name, value in zip("abc", bounds)}, {}, USAGE, ["node '/the/node': the ", "and has to be "]
    weights = {"x": np.ones((2, 3, 1), np.float32), "w": np.ones((1, 1, 1), np.float32), "r": np.ones((1, 1, 1), np.float32), "b": np.ones((1, 2), np.float32)}
    for length in (-1, 3):
        yield "RNN", {**weights, "s": np.array([2, length, 2], np.int32)}, {"hidden_size": 1}, USAGE, [f"index {length}", "length 3"]
    yield "STFT", {"x": np.ones((1, 128, 1), np.float32), "s": np.array(-1), "w": np.ones(16, np.float32)}, {}, USAGE, ["node '/the/node': the step of frames is -1 and has to be at least 1"]
    signal = np.ones((1, 128, 1), np.float32)
    yield "STFT", {"x": signal, "s": np.array(0), "w": np.ones(16, np.float32)}, {}, USAGE, ["node '/the/node': the step of frames is 0 and has to be at least 1"]
    for length in (-(2**63), -1, 0, 129, 2**63 - 1):
        yield "STFT", {"x": signal, "s": np.array(4), "w": np.ones(max(0, min(length, 129)), np.float32), "l": np.array(length)}, {}, USAGE, ["/the/node"]
    for length in (0, -1):
        yield "DFT", {"x": signal, "l": np.array(length)}, {}, USAGE, [f"node '/the/node': the length of the transform is {length} and has to be at least 1"]
    yield "HannWindow", {"s": np.array(-1)}, {}, USAGE, ["node '/the/node': the size is -1 and has to be at least 0"]
    for index, wrong, word in ((0, -1, "number of filters"), (1, -1, "length of the transform"), (2, 0, "sample rate"), (2, -1, "sample rate"), (3, -1, "lower edge"),
                               (3, np.nan, "lower edge"), (3, 5000, "distance of the edges"), (4, np.nan, "distance"), (4, np.inf, "distance"), (4, 9000, "row of the filter bank")):
        bank = [np.array(8), np.array(16), np.array(8192), np.array(0, np.float32), np.array(4096, np.float32)]
        bank[index] = np.array(wrong, bank[index].dtype)
        yield "MelWeightMatrix", dict(zip("abcde", bank)), {}, USAGE, ["node '/the/node': the ", word]
    yield "ConstantOfShape", {"s": ints(2**44)}, {}, UNSUPPORTED, ["run_bytes"]
    yield "ConstantOfShape", {"s": ints(2**40, 2**40)}, {}, UNSUPPORTED, ["run_bytes"]


# For signals of any channels or of four, as the run says.
BRANCHES = """<ir_version: 8, opset_import: ["" : 17]> g (float[1, 3, N] x, bool c) => (float[] y) {
    y = If (c) <then_branch = a () => (float[] r) { r = Neg (x) },
                else_branch = b () => (float[] r) { w = Constant <value: tensor = float[1, 4, 1] {1, 2, 3, 4}> () [narrow] r = Conv (x, w) }> }"""

# Constants that others cannot be divided by: what the run says of an operand, of few elements (interpreted) and of many (compiled).
CONSTANTS = """<ir_version: 8, opset_import: ["" : 17]> g (float[1, 3, N] x, bool c) => (float[] y) {
    y = If (c) <then_branch = a () => (float[] r) { r = Neg (x) },
                else_branch = b () => (float[] r) { n = Constant <value_ints = [%d]> () ones = ConstantOfShape <value = int64[1] {1}> (n)
                    none = ConstantOfShape (n) zero = Cast <to = 7> (none) less = Neg (ones) [narrow] q = Div (less, zero)
                    s = ReduceSum <keepdims = 0> (q) f = Cast <to = 1> (s) r = Add (x, f) }> }"""

# Of as many elements both, as the run says.
PAIRS = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x, float[M, 3] w) => (float[] y) {
    y = Scan <num_scan_inputs = 2, body = b (float[3] p, float[3] q) => (float[3] r) { r = Add (p, q) }> (x, w) }"""

# Of lengths that only the run tells: from an axis without elements nothing is taken, and a shape that overflows names its node.
LENGTHS = (
    *((f'z = Constant <value_ints = [2, 3]> () y = Resize <mode = "{mode}"> (x, , , z)', (0, 3), USAGE, "the length of an axis that is resized is 0") for mode in ("nearest", "linear", "cubic")),
    ('z = Constant <value_ints = [0, 3]> () y = Resize (x, , , z)', (0, 3), 0, ""),
    ('y = Resize <mode = "linear"> (x, , , w)', (0, 3), USAGE, "the length of an axis that is resized is 0"),
    *((f'p = Constant <value_ints = [1, 0, 0, 0]> () y = Pad <mode = "{mode}"> (x, p)', (0, 3), USAGE, "the length of an axis whose elements are repeated is 0")
      for mode in ("edge", "wrap", "reflect")),
    ('p = Constant <value_ints = [1, 0, 0, 0]> () y = Pad <mode = "edge"> (x, p)', (1, 3), 0, ""),
    ('a = Constant <value_ints = [0, 1]> () i = Unsqueeze (x, a) g = Constant <value: tensor = float[1, 1, 1, 2] {0.5, 0.5}> () y = GridSample (i, g)', (0, 3), USAGE,
     "the length of an axis of the image is 0"),
    ('a = Constant <value_ints = [0, 1]> () g = Unsqueeze (x, a) i = Constant <value: tensor = float[1, 1, 2, 2] {1, 2, 3, 4}> () y = GridSample (i, g)', (2, 3), MODEL,
     "expected 2, got 3"),
    ('y = ArgMax <axis = 0> (x)', (0, 3), USAGE, "the length of the axis that is searched is 0"),
    ('k = Constant <value_int = 1> () l = Constant <value_int = 4> () y = STFT (x, k, , l)', (2, 3), USAGE, "the length of the signal is 3 and has to be at least 4"),
    ('k = Constant <value_int = 1> () l = Constant <value_int = 4> () y = STFT (x, k, , l)', (2, 4), 0, ""),
    ('y = Reshape (x, w)', (2, 3), MODEL, "a shape overflows at these sizes of the inputs; give others"),
    # Of two lengths below 0 the product is none, and nothing is a sum.
    *((f's = Shape (x) k = Constant <value_ints = [10, 12]> () d = Sub (s, k) o = Constant <value_float = 1.0> () [fit] c = {made} y = {op} (c)', length, status, word)
      for made in ("ConstantOfShape (d)", "Tile (x, d)", "Expand (o, d)") for op in ("Flatten <axis = 0>", "ReduceSum", "Exp")
      for length, status, word in (((9, 11), MODEL, "a shape has a negative extent at these sizes of the inputs; give others"), ((10, 14), 0, ""), ((11, 13), 0, ""))),
    *((f's = Shape (x) k = Constant <value_ints = [10, 12]> () d = Sub (s, k) o = Constant <value_floats = [1.0]> () p = ReduceProd (d) e = Expand (o, p) '
       f'[fit] c = Reshape (e, d) y = {op} (c)', length, status, word) for op in ("Exp", "ReduceSum")
      for length, status, word in (((9, 11), MODEL, "a shape has a negative extent at these sizes of the inputs; give others"), ((11, 13), 0, ""))),
    *((f'p = Constant <value_ints = [{before}, 0, {after}, 0]> () y = Pad <mode = "reflect"> (x, p)', (length, 3), status, word)
      for before, after in ((4, 0), (0, 4), (2, 4), (4, 4)) for length, status, word in (
          (1, USAGE, "what an axis has beyond what is reflected of it is -"), (4, USAGE, "what an axis has beyond what is reflected of it is 0 and has to be at least 1"), (5, 0, ""))),
    # A vector that is computed from shapes has elements whatever they are.
    *((f's = Shape (x) k = Constant <value_ints = [2, 3]> () d = Sub (s, k) q = {op} (s, d) y = Cast <to = 1> (q)', length, status, word) for op in ("Div", "Mod")
      for length, status, word in (((2, 4), MODEL, "a shape is divided by zero at these sizes of the inputs; give others"), ((3, 4), 0, ""))),
    *((f'a = Constant <value_ints = [0, 1]> () i = Unsqueeze (x, a) [fit] p = MaxPool <kernel_shape = [4, 1]> (i) y = {op} (p)', length, status, word)
      for op in ("Identity", "ReduceSum", "Neg") for length, status, word in (((2, 3), MODEL, "a shape has a negative extent at these sizes of the inputs; give others"), ((3, 3), 0, ""), ((4, 3), 0, ""))),
)

# Sizes that only the run tells, and the words for those that do not agree.
SIZES = (
    ("y = MatMul (a, b)", ["node 'fit': input 'b', dimension 0: expected K of input 'a' = 3, got 5 (of (5, 4)); give inputs of sizes that agree"]),
    ("y = MatMul (t, b)", ["node 'fit': input 'b', dimension 0: expected K of input 'a' = 3, got 5"]),
    ("y = MatMul (a, t2)", ["node 'fit': result of 'twin', dimension 0: expected K of input 'a' = 3, got 5"]),
    ("y = Add (a, b)", ["node 'fit': input 'a', dimension 0: expected 1 or J = 5, got 2 (of (2, 3))"]),
    ("y, z = Split <axis = 1> (b, k)", ["node 'fit': part 1 of input 'b', dimension 1: expected 4, got 3 (of (5, 3)); give inputs of sizes that agree"]),
    ("y = Gather <axis = 0> (b, i)", ["node 'fit': index 7 of input 'b', dimension 0: expected 1, got 0 (of (0, 4))"]),
    ("y = Reshape (b, k)", ["node 'fit': the elements of input 'b', dimension 0: expected 4, got 20 (of (20))"]),
    ("y = Concat <axis = 0> (a, b)", ["node 'fit': input 'b', dimension 1: expected K of input 'a' = 3, got 4"]),
)

# Operands of a slice, each of a length that the run tells: which, how many of each, and the words where they do not agree.
SLICE = """<ir_version: 8, opset_import: ["" : 17]> g (float[4, 3] x, int64[S] s, int64[E] e, int64[A] a, int64[T] t) => (float[P, Q] y) {
    one = Constant <value_ints = [1]> () none = Constant <value_ints: ints = []> () [cut] y = Slice (x, %s) }"""
SLICES = (
    ("s, e, one, t", (1, 1, 0, 0), MODEL, "node 'cut': input 't', dimension 0: expected 1, got 0"),
    ("s, e, one, t", (1, 1, 0, 2), MODEL, "node 'cut': input 't', dimension 0: expected 1, got 2"),
    ("s, e, one", (2, 1, 0, 0), MODEL, "node 'cut': input 's', dimension 0: expected 1, got 2"),
    ("s, e, one", (1, 2, 0, 0), MODEL, "node 'cut': input 'e', dimension 0: expected 1, got 2"),
    ("s, e, one, none", (1, 1, 0, 0), MODEL, "node 'cut' (Slice)"),
    ("one, e, one, none", (1, 1, 0, 0), MODEL, "node 'cut' (Slice): starts and steps differ in length: 1 and 0"),
    ("one, one, none, t", (1, 1, 0, 1), MODEL, "node 'cut' (Slice): starts and axes differ in length: 1 and 0"),
    ("s, e", (1, 2, 0, 0), MODEL, "node 'cut': input 'e', dimension 0: expected S of input 's' = 1, got 2"),
    ("s, e", (3, 3, 0, 0), MODEL, "node 'cut': the part of input 's' that there are axes for, dimension 0: expected S of input 's' = 3, got 2"),
    ("s, e, a", (1, 2, 1, 0), MODEL, "node 'cut': input 'e', dimension 0: expected A of input 'a' = 1, got 2"),
    ("s, e, a, t", (1, 1, 1, 2), MODEL, "node 'cut': input 't', dimension 0: expected A of input 'a' = 1, got 2"),
    ("s, e, one, t", (1, 1, 0, 1), USAGE, "node 'cut': a step, whatever its sign, is 0 and has to be at least 1"),
)

# Keys that are no padding, of 4.
PADDED = """<ir_version: 10, opset_import: ["" : 24]> g (float[1, 1, 2, 8] q, float[1, 1, 4, 8] k, int64[1] c) => (float[1, 1, 2, 8] y) {
    [cut] y = Attention <is_causal = %d> (q, k, k, , , , c) }"""

# Divisions that are fused with what comes before and after: the message is about the nodes that divide.
FUSED = """<ir_version: 8, opset_import: ["" : 17]> g (int64[4, 16] x, int64[4, 16] one, int64[4, 16] z) => (int64[4, 16] y, int64[4, 16] q) { %s }"""
GROUPS = (
    ("[a] a = Neg (x) [cut] b = Div (a, z) [c] y = Neg (b) [d] q = Neg (x)", "cut"),
    ("[c] a = Div (x, one) [d] p = Neg (a) [cut] b = Div (x, z) [f] r = Neg (b) [g] y = Add (p, r) [h] q = Neg (x)", "c, cut"),
    ("[a] a = Div (one, one) [b] y = Neg (a) [cut] c = Div (z, z) [d] q = Neg (c)", "cut"),
    ("[a] a = Div (one, one) [b] m = ReduceMax <axes = [1]> (a) [c] y = Sub (a, m) "
     "[cut] c = Div (z, z) [d] n = ReduceMax <axes = [1]> (c) [e] q = Sub (c, n)", "cut"),
)


def run(binary, folder, model, inputs):
    onnx.save(model, folder / "model.onnx")
    arguments = [str(binary), "run", str(folder / "model.onnx"), "--backend", "none"]
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    binary = parser.parse_args().binary
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for op, inputs, attributes, status, words in cases():
            constants = [numpy_helper.from_array(value.value, name) for name, value in inputs.items() if isinstance(value, Const)]
            node = helper.make_node(op, list(inputs), ["y", "z"] if op in ("TopK", "Split") else ["y"], name="/the/node", **attributes)
            inputs = {name: value for name, value in inputs.items() if not isinstance(value, Const)}
            given = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype),
                                                   ["n", *value.shape[1:]] if constants else value.shape)
                     for name, value in inputs.items()]
            results = [helper.make_empty_tensor_value_info(name) for name in node.output]
            graph = helper.make_graph([node], "g", given, results, constants)
            result = run(binary, folder, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), inputs)
            missing = [word for word in words if word not in result.stderr]
            if result.returncode != status or missing:
                failures += 1
                print(f"FAILED {op} {words}: status {result.returncode}, {result.stdout}{result.stderr}")
        for taken, status, word in ((True, 0, ""), (False, MODEL, "'narrow'")):
            result = run(binary, folder, onnx.parser.parse_model(BRANCHES), {"x": np.ones((1, 3, 8), np.float32), "c": np.array(taken)})
            if result.returncode != status or word not in result.stderr:
                failures += 1
                print(f"FAILED the branch {taken}: status {result.returncode}, {result.stdout}{result.stderr}")
        for count, taken in itertools.product((3, 200000), (True, False)):
            result = run(binary, folder, onnx.parser.parse_model(CONSTANTS % count), {"x": np.ones((1, 3, 8), np.float32), "c": np.array(taken)})
            if result.returncode != (0 if taken else USAGE) or (not taken and "at 'narrow': division of an integer by zero" not in result.stderr):
                failures += 1
                print(f"FAILED constants {count}, {taken}: status {result.returncode}, {result.stdout}{result.stderr}")
        for rows, status, word in ((4, 0, ""), (2, MODEL, "= 4, got 2"), (5, MODEL, "= 4, got 5")):
            result = run(binary, folder, onnx.parser.parse_model(PAIRS), {"x": X, "w": np.ones((rows, 3), np.float32)})
            if result.returncode != status or word not in result.stderr:
                failures += 1
                print(f"FAILED pairs of {rows}: status {result.returncode}, {result.stdout}{result.stderr}")
        for node, words in SIZES:
            text = '<ir_version: 8, opset_import: ["" : 17]> g (float[N, K] a, float[J, L] b) => (float[R, S] y) { t = Relu (a) [twin] t2 = Neg (b) ' \
                   'k = Constant <value_ints = [1, 4]> () i = Constant <value_int = 7> () [fit] %s }'
            result = run(binary, folder, onnx.parser.parse_model(text % node), {"a": np.ones((2, 3), np.float32), "b": np.ones((5, 4), np.float32)})
            if result.returncode != MODEL or any(word not in result.stderr for word in words) or re.search(r"match_cast|\b[lg]v[0-9]*\b", result.stderr):
                failures += 1
                print(f"FAILED {node}: status {result.returncode}, {result.stdout}{result.stderr}")
        for nodes, shape, status, word in LENGTHS:
            text = '<ir_version: 8, opset_import: ["" : 18]> g (float[N, K] x, int64[2] w) => (float[R, S] y) { %s }' % "[fit] y = ".join(nodes.rsplit("y = ", 1))
            model = onnx.parser.parse_model(text)
            model.graph.output[0].ClearField("type")
            wanted = ints(2**40, 2**40) if "Reshape" in nodes else ints(2, 3)
            result = run(binary, folder, model, {"x": np.ones(shape, np.float32), "w": wanted})
            if result.returncode != status or word not in result.stderr or (status and "'fit'" not in result.stderr):
                failures += 1
                print(f"FAILED lengths {nodes}: status {result.returncode}, {result.stdout}{result.stderr}")
        for causal, count in itertools.product((0, 1), (-(2**63), -1, 4, 5, 2**63 - 1)):
            queries, keys = np.ones((1, 1, 2, 8), np.float32), np.ones((1, 1, 4, 8), np.float32)
            result = run(binary, folder, onnx.parser.parse_model(PADDED % causal), {"q": queries, "k": keys, "c": ints(count)})
            word = f"node 'cut': a number of keys that are no padding is {count} and has to be at least 0, at most 4"
            if result.returncode != (0 if count == 4 else USAGE) or (count != 4 and word not in result.stderr):
                failures += 1
                print(f"FAILED keys {count}: status {result.returncode}, {result.stdout}{result.stderr}")
        for nodes, place in GROUPS:
            ones = np.ones((4, 16), np.int64)
            result = run(binary, folder, onnx.parser.parse_model(FUSED % nodes), {"x": ones, "one": ones, "z": np.eye(4, 16, dtype=np.int64)})
            if result.returncode != USAGE or f"at '{place}': division of an integer by zero" not in result.stderr:
                failures += 1
                print(f"FAILED fused {nodes}: status {result.returncode}, {result.stdout}{result.stderr}")
        for operands, lengths, status, word in SLICES:
            model = onnx.parser.parse_model(SLICE % operands)
            vectors = {name: np.zeros(length, np.int64) for name, length in zip("seat", lengths)}
            result = run(binary, folder, model, {"x": X, **vectors})
            if result.returncode != status or word not in result.stderr:
                failures += 1
                print(f"FAILED slice by {operands}: status {result.returncode}, {result.stdout}{result.stderr}")
    print(f"{failures} failures")
    return 5 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
