"""Single-operator models over many operators, attributes, shapes and operator sets, against ONNX Runtime.

    python tests/onnx/op_cases.py [PATTERN] [--mode MODE] [--part I/N] [--sample] [--binary PATH] [--chunk N]

MODE is interpret, import, or compile[:no-fuse][:BACKEND][:checked], the last with every access of a kernel compared with
its buffer. With --sample every fourth case of an operator behind its first six, unless $DEUTERON_WHOLE is set
(`./dev test --whole`). All cases of a chunk run in one process (run_cases). The exit status is 5 where one differs.
"""

import argparse
import collections
import dataclasses
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "onnx"))
import contrib_cases  # noqa: E402
import contrib_language_cases  # noqa: E402
import contrib_optimised_cases  # noqa: E402
import contrib_standard_cases  # noqa: E402
import contrib_symbol_cases  # noqa: E402
import early_cases  # noqa: E402
import feature_cases  # noqa: E402
import generation_cases  # noqa: E402
import nchwc_cases  # noqa: E402
import run_time_cases  # noqa: E402
import sequence_cases  # noqa: E402
import vector_cases  # noqa: E402
from case import F, I, Case, Const, case, f, graph, i, ints  # noqa: E402
from compare import difference  # noqa: E402

def divisions():
    """Of integers: the least one by -1 has no quotient and wraps around. (ONNX Runtime leaves it to the machine.)"""
    divisors = [-1, 1, 2, -3, -1]
    for dtype in [np.int8, np.int32, I]:
        for x in (int(np.iinfo(dtype).min), -7, 7):
            quotients = [(-(x // -y) if (x < 0) != (y < 0) else x // y) for y in divisors]
            results = {("Div", None): quotients, ("Mod", 0): [x % y for y in divisors], ("Mod", 1): [x - q * y for q, y in zip(quotients, divisors)]}
            for (op, fmod), row in results.items():
                one = case(op, [np.full((3, 5), x, dtype), np.array(divisors, dtype)], **({} if fmod is None else {"fmod": fmod}))
                yield dataclasses.replace(one, expected=[np.array([[(v + 2**63) % 2**64 - 2**63 for v in row]] * 3, I).astype(dtype)])


def alone():
    """What ONNX's text defines and ONNX Runtime refuses (docs/differences.md)."""
    x = f(2, 7, 3, 4)
    for size in (2, 4, 16):
        sums = np.stack([np.square(x[:, max(0, c - (size - 1) // 2):c + size // 2 + 1].astype(np.float64)).sum(axis=1) for c in range(7)], axis=1)
        yield dataclasses.replace(case("LRN", [x], size=size, alpha=0.5), expected=[(x / (1 + 0.5 / size * sums) ** 0.75).astype(F)])
    yield dataclasses.replace(case("Resize", [x, Const(f(0)), Const(f(0)), ints(2, 7, 0, 4)]), expected=[x[:, :, :0]])
    padded = np.pad(f(1, 1, 4), ((0, 0), (0, 0), (3, 2)))
    windows = np.stack([padded[:, :, k:8 + k] for k in range(2)]).astype(np.float64)
    yield dataclasses.replace(case("LpPool", [f(1, 1, 4)], kernel_shape=[2], pads=[3, 2]), expected=[np.sqrt(np.square(windows).sum(axis=0)).astype(F)])
    yield dataclasses.replace(case("AveragePool", [f(1, 1, 4)], kernel_shape=[2], pads=[3, 2], count_include_pad=1), expected=[windows.mean(axis=0).astype(F)])


def cases():
    yield case("Softplus", [np.array([-20, -3, 0, 3, 11.5, 18.9, 60], np.float16)])
    for op in ["Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Neg", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Cosh", "Tan",
               "Tanh", "Atan", "Asinh", "Softplus", "Softsign", "HardSwish", "Identity", "Reciprocal"]:
        yield case(op, [f(2, 3, 4)])
        yield case(op, [f(7)])
    for op in ["Sqrt", "Log", "Acosh"]:
        yield case(op, [f(3, 4, low=1.0, high=5.0)])
    for op in ["Acos", "Asin", "Atanh"]:
        yield case(op, [f(3, 4, low=-0.9, high=0.9)])
    for op in ["Gelu", "Mish"]:
        yield case(op, [f(3, 4)], opset=20)
    yield case("Gelu", [f(3, 4)], opset=20, approximate="tanh")
    for op in ["Add", "Sub", "Mul", "Div", "Max", "Min"]:
        for a, b in [((2, 3), (2, 3)), ((2, 3, 4), (4,)), ((2, 1, 4), (3, 1)), ((), (2, 3))]:
            yield case(op, [f(*a), f(*b, low=0.5, high=2.0)])
        yield case(op, [i(2, 3), i(3, low=1)])
    yield from divisions()
    yield from alone()
    for op in ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]:
        yield case(op, [i(4, 3), i(3)])
    for op in ["Less", "Greater"]:
        yield case(op, [f(4, 3), f(4, 1)], opset=9)
    for op in ["And", "Or", "Xor"]:
        yield case(op, [i(4, 3, high=2) > 0, i(3, high=2) > 0])
    yield case("Not", [i(4, 3, high=2) > 0])
    yield case("Pow", [f(3, 4, low=0.1), Const(2.0, F)])
    yield case("Pow", [f(3, 4, low=0.1), f(4)])
    yield case("Mod", [i(3, 4, low=-9, high=9), i(4, low=1)])
    yield case("Mod", [f(3, 4), f(4, low=0.5)], fmod=1)
    yield case("Where", [i(3, 4, high=2) > 0, f(3, 4), f(4)])
    yield case("Clip", [f(3, 4), Const(-0.5, F), Const(0.7, F)])
    yield case("Clip", [f(3, 4), None, Const(0.7, F)])
    yield case("Clip", [f(3, 4)], opset=7, min=-0.3, max=0.6)
    for op in ["Sum", "Mean", "Max", "Min"]:
        yield case(op, [f(2, 3), f(2, 3, seed=1), f(2, 3, seed=2)])
    for op, attributes in [("LeakyRelu", {"alpha": 0.2}), ("Elu", {"alpha": 1.5}), ("Selu", {}), ("Celu", {"alpha": 0.7}),
                           ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("ThresholdedRelu", {"alpha": 0.5}),
                           ("Shrink", {"lambd": 0.7, "bias": 0.2})]:
        yield case(op, [f(3, 5)], **attributes)
    yield case("PRelu", [f(2, 3, 4), f(3, 1)])
    for op in ["Softmax", "LogSoftmax", "Hardmax"]:
        for axis in (-1, 0, 1):
            yield case(op, [f(2, 3, 4)], axis=axis)
        yield case(op, [f(2, 3, 4)], opset=11, axis=1)
    for to in [TensorProto.INT32, TensorProto.INT64, TensorProto.DOUBLE, TensorProto.BOOL, TensorProto.FLOAT16]:
        yield case("Cast", [f(3, 4)], to=to)
    for op in ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
               "ReduceLogSumExp"]:
        axes_input = op == "ReduceSum"
        for axes in ([1], [0, 2], [-1]):
            for keep in (0, 1):
                if axes_input:
                    yield case(op, [f(2, 3, 4), ints(*axes)], keepdims=keep)
                else:
                    yield case(op, [f(2, 3, 4)], axes=axes, keepdims=keep)
                yield case(op, [f(2, 3, 4), ints(*axes)], opset=18, keepdims=keep)
        yield case(op, [f(2, 3)])
    for dtype in [np.int32, I]:
        for op in ["ReduceL2", "ReduceLogSum"]:
            yield case(op, [i(2, 3, 4, low=1).astype(dtype), ints(1)], opset=18)
        yield case("ReduceL2", [i(2, 3).astype(dtype)], opset=18, noop_with_empty_axes=1)
    for op in ["ArgMax", "ArgMin"]:
        yield case(op, [f(3, 4)], axis=1, keepdims=0)
        yield case(op, [i(3, 6, high=3).astype(F)], axis=1, select_last_index=1)
    for exclusive in (0, 1):
        for reverse in (0, 1):
            yield case("CumSum", [f(3, 5), Const(1, I)], exclusive=exclusive, reverse=reverse)
    yield case("TopK", [f(3, 8), ints(3)], outputs=2, axis=1)
    yield case("TopK", [f(3, 8), ints(2)], outputs=2, axis=0, largest=0)
    yield case("TopK", [f(3, 8), ints(0)], outputs=2, axis=0)
    for a, b in [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((1, 2, 3, 4), (5, 1, 4, 2)), ((4,), (4, 3)), ((3, 4), (4,))]:
        yield case("MatMul", [f(*a), f(*b)])
    yield case("Gemm", [f(3, 4), f(4, 5), f(5)], alpha=0.5, beta=2.0)
    yield case("Gemm", [f(4, 3), f(5, 4), f(3, 1)], transA=1, transB=1)
    for k, n in [(8, 5), (67, 300)]:
        yield case("Gemm", [f(1, k), f(n, k), f(n)], transB=1, alpha=0.5)
        yield graph("RowByTransposed", [f(2, 3, 1, k), f(2, n, 3, k)], f"""g (float[2, 3, 1, {k}] x, float[2, N, 3, {k}] y) => (float[2, 3, 1, N] z) {{
            t = Transpose <perm: ints = [0, 2, 3, 1]> (y) z = MatMul (x, t) }}""")
        yield graph("VectorByTransposed", [f(k).astype(np.float16), f(n, k).astype(np.float16)], f"""g (float16[{k}] x, float16[N, {k}] y) => (float16[N] z) {{
            t = Transpose <perm: ints = [1, 0]> (y) z = MatMul (x, t) }}""")
    for equation, shapes in [("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]),
                             ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("nchw,nkhw->nck", [(2, 7, 3, 5), (2, 4, 3, 5)]), ("abc,dbc,bc->ad", [(2, 3, 4), (5, 3, 4), (3, 4)]), ("abc,acb->a", [(2, 3, 3), (2, 3, 3)]),
                             ("abcd,abcd->a", [(2, 3, 4, 5)] * 2), ("abb,ab->a", [(2, 3, 3), (2, 3)]), ("abc,dbc->ad", [(2, 3, 4), (5, 1, 4)])]:
        yield case("Einsum", [f(*s) for s in shapes], equation=equation)
    for attributes in [{}, {"pads": [1, 1, 1, 1]}, {"strides": [2, 2], "pads": [1, 0, 0, 1]}, {"dilations": [2, 2]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
                       {"auto_pad": "SAME_LOWER"}]:
        yield case("Conv", [f(2, 4, 9, 8), f(6, 4, 3, 3), f(6)], **attributes)
        yield case("Conv", [f(2, 4, 9, 8), f(4, 1, 3, 3)], group=4, **attributes)
    yield case("Conv", [f(1, 3, 10), f(5, 3, 3)], pads=[1, 1])
    # Rows of pixels in whole vectors and not; windows over planes.
    for width in (14, 48, 50, 101, 129):
        for strides in ([1, 1], [2, 2]):
            yield case("Conv", [f(2, 5, 3, width), f(18, 5, 1, 1), f(18)], strides=strides)
            yield case("Conv", [f(2, 20, 5, width), f(20, 1, 3, 3)], group=20, pads=[1, 1, 1, 1], strides=strides)
            yield case("MaxPool", [f(2, 20, 5, width)], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=strides)
    yield case("MatMul", [f(24, 7), f(7, 29)])
    yield case("Conv", [f(1, 2, 5, 6, 7), f(3, 2, 3, 3, 3), f(3)], pads=[1] * 6)
    for attributes in [{}, {"strides": [2, 2]}, {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
                       {"strides": [2, 2], "output_shape": [12, 12]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}]:
        yield case("ConvTranspose", [f(1, 4, 5, 5), f(4, 3, 3, 3), f(3)], **attributes)
    yield case("ConvTranspose", [f(1, 4, 5, 5), f(4, 2, 3, 3)], group=2)
    yield case("DeformConv", [f(2, 4, 6, 5), f(6, 2, 3, 3), f(2, 36, 4, 3), f(6)], opset=19, group=2, offset_group=2)
    for op in ["MaxPool", "AveragePool"]:
        for attributes in [{"kernel_shape": [2, 2]}, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
                           {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [0, 1, 1, 0]}, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
                           {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]}]:
            yield case(op, [f(2, 3, 9, 8)], **attributes)
        yield case(op, [f(2, 3, 9)], kernel_shape=[3])
        yield case(op, [f(1, 2, 5, 6, 7)], kernel_shape=[2, 2, 2])
    yield case("AveragePool", [f(2, 3, 9, 8)], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    yield case("MaxPool", [f(2, 3, 9, 8)], kernel_shape=[2, 2], dilations=[2, 2])
    yield case("LpPool", [f(2, 3, 9, 8)], kernel_shape=[2, 2], p=2)
    for pads in ([0, 0, 0, 0], [1, 1, 0, 1]):
        for strides in ([2, 3], [3, 2]):
            yield case("LpPool", [f(2, 3, 9, 8)], opset=18, kernel_shape=[3, 3], strides=strides, pads=pads, ceil_mode=1, p=3)
    for shape in ((0, 0), (1, 1), (2, 4, 4), (3, 5, 5), (2, 2, 17, 17)):
        yield case("Det", [f(*shape)])
    yield case("Det", [np.array([[0, 2, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 3], [0, 0, 4, 0, 0], [0, 0, 0, 5, 0]], F)])
    yield case("Det", [np.tile(np.arange(6, dtype=F), (6, 1))])
    for op in ["GlobalAveragePool", "GlobalMaxPool"]:
        yield case(op, [f(2, 3, 5, 6)])
    yield case("BatchNormalization", [f(2, 3, 4, 5), f(3), f(3, seed=1), f(3, seed=2), f(3, low=0.5)])
    yield case("BatchNormalization", [f(4, 3), f(3), f(3), f(3), f(3, low=0.5)], opset=9)
    yield case("InstanceNormalization", [f(2, 3, 4, 5), f(3), f(3)])
    yield case("LayerNormalization", [f(2, 3, 8), f(8), f(8)])
    yield case("LayerNormalization", [f(2, 3, 8), f(3, 8)], axis=1)
    yield case("GroupNormalization", [f(2, 6, 4, 4), f(6), f(6)], opset=21, num_groups=3)
    for size in (3, 4, 5):
        yield case("LRN", [f(2, 7, 4, 4)], size=size, alpha=0.01)
    yield case("LRN", [f(2, 3, 0, 4)], size=3)
    # Wider than all channels.
    for size in (15, 16, 2**61 + 1, 2**63 - 1):
        yield case("LRN", [f(2, 7, 4, 4)], size=size, alpha=0.5)
    # Defaults of attributes are floats: in double precision 1e-5 is another number.
    yield dataclasses.replace(case("LayerNormalization", [f(2, 3, 8).astype(np.float64) * 1e-2, Const(np.ones(8))]), tolerance=1e-12)
    yield dataclasses.replace(case("HardSigmoid", [f(3, 8).astype(np.float64)], 18), tolerance=1e-12)
    yield dataclasses.replace(case("BatchNormalization", [f(2, 3).astype(np.float64), *[f(3, low=0.01, high=0.02).astype(np.float64) for _ in range(4)]]), tolerance=1e-12)
    yield case("LpNormalization", [f(3, 4)], p=2)
    yield case("MeanVarianceNormalization", [f(2, 3, 4, 5)])
    for shape in [(4, 6), (0, -1), (-1,), (2, 2, 0, 3)]:
        for target in [(4, 6), (0, -1), (2, 0, -1), (-1, 2, 0), (0, 0, 2, -1), (24,), (-1,)]:
            yield case("Reshape", [f(2, 3, 4), np.array(target, I)])
        yield case("Reshape", [f(2, 0, 4), np.array([4, 0, 7], I)], allowzero=1)
        yield case("Reshape", [f(2, 0, 4), np.array([2**40, 4, 0], I)], allowzero=1)
        yield case("Reshape", [f(2, 3, 4) if len(shape) < 4 else f(2, 2, 6, 1), ints(*shape)] if shape != (2, 2, 0, 3) else [f(2, 2, 2, 3), ints(2, 2, 0, 3)])
    for shape, axis in [((0,), -1), ((1, 3, 2, 0), -3), ((2, 0, 3), 1), ((0, 4), 0)]:
        yield case("Flatten", [f(*shape)], axis=axis)
    yield case("Flatten", [f(2, 3, 4)], axis=2)
    yield case("Flatten", [f(2, 3, 4)], axis=0)
    yield case("Transpose", [f(2, 3, 4)], perm=[2, 0, 1])
    yield case("Transpose", [f(2, 3, 4)])
    yield case("Squeeze", [f(1, 3, 1), ints(0, 2)])
    yield case("Squeeze", [f(1, 3, 1)], opset=11, axes=[0])
    yield case("Unsqueeze", [f(3, 4), ints(0, -1)])
    yield case("Unsqueeze", [f(3, 4)], opset=11, axes=[1])
    yield case("Concat", [f(2, 3), f(2, 4)], axis=1)
    yield case("Concat", [f(2, 3), f(1, 3), f(4, 3)], axis=-2)
    yield case("Split", [f(6, 3)], outputs=3, axis=0)
    yield case("Split", [f(6, 3), ints(1, 5)], outputs=2, axis=0)
    yield case("Split", [f(6, 3)], opset=11, outputs=2, split=[2, 4])
    yield case("Split", [f(7, 3)], opset=18, outputs=3, num_outputs=3)
    yield case("Expand", [f(3, 1), ints(2, 1, 4)])
    yield case("Tile", [f(2, 3), ints(2, 3)])
    for mode in ["constant", "reflect", "edge"]:
        yield case("Pad", [f(3, 4, 5), ints(0, 1, 2, 0, 2, 1)], mode=mode)
        yield case("Pad", [f(3, 4)], opset=10, mode=mode, pads=[1, 0, 0, 2])
    yield case("Pad", [f(3, 4), ints(0, -1, 1, 0), Const(1.5, F)])
    # What is cut off at one end reaches into what is added at the other.
    yield case("Pad", [f(3, 2), ints(1, -3, 0, 4), Const(1.5, F)])
    yield case("Pad", [f(3, 0), ints(0, 2, 0, -1)])
    for mode in ["DCR", "CRD"]:
        yield case("DepthToSpace", [f(1, 8, 2, 3)], blocksize=2, mode=mode)
    yield case("SpaceToDepth", [f(1, 2, 4, 6)], blocksize=2)
    big = np.iinfo(I).max
    for starts, ends, axes, steps in [([0], [2], [0], [1]), ([1], [big], [1], [2]), ([-3], [-1], [1], [1]), ([-1], [-big], [0], [-1]), ([10], [-10], [1], [-2]),
                                      ([-9], [-big], [1], [-1]), ([-8, -7], [-big, -big], [1, 0], [-1, -2]),
                                      ([0, 1], [2, 3], [1, 0], [1, 1])]:
        yield case("Slice", [f(4, 7), ints(*starts), ints(*ends), ints(*axes), ints(*steps)])
    yield case("Slice", [f(4, 7)], opset=9, starts=[1], ends=[5], axes=[1])
    # Bounds, and with them shapes, that only a run knows.
    for starts, ends, axes, steps in [([1, 2], [3, 6], None, None), ([-3], [9223372036854775807], [1], [1]),
                                      ([6, -1], [-9223372036854775807, 1], [1, 0], [-2, -1]), ([5], [2], [1], [1]), ([-9], [9], [0], [1]),
                                      ([-9], [-9223372036854775807], [1], [-1])]:
        rest = [] if axes is None else [ints(*axes), ints(*steps)]
        yield case("Slice", [f(4, 7), np.array(starts, I), np.array(ends, I), *rest])
    # Steps longer than any axis.
    for start, end, step in [(0, 3, big), (2, 4, 2**40), (3, 0, -big), (3, -9, -(2**32))]:
        yield case("Slice", [f(4, 7), ints(start), ints(end), ints(0), ints(step)])
        yield case("Slice", [f(4, 7), np.array([start], I), np.array([end], I), ints(0), ints(step)])
        yield case("Slice", [f(4, 7), np.array([start], I), np.array([end], I), np.array([0], I), np.array([step], I)])
    # A vector, which its indices and the result's length are as long as.
    yield case("Slice", [f(1), np.array([0], I), np.array([1], I), ints(-1), ints(-1)])
    yield case("Slice", [f(1), np.array([0], I), np.array([1], I), ints(0), ints(1)])
    yield case("Slice", [f(4, 7), np.array([1], np.int32), np.array([6], np.int32), Const([1], np.int32)])
    yield case("Slice", [f(4, 7), ints(1), np.array([6], I), ints(1)])
    yield case("NonZero", [f(3, 4) * (f(3, 4, seed=1) > 0)])
    yield case("NonZero", [i(7, high=2)])
    yield case("NonZero", [f(2, 3, 4) > 0.5])
    yield case("NonZero", [np.zeros((2, 3), F)])
    yield case("NonZero", [np.array([0.0, -0.0, np.nan, np.inf], F)])
    for dtype in [F, np.float64, np.int8, I]:
        yield case("Unique", [i(4, 6, high=5).astype(dtype)], outputs=4)
        yield case("Unique", [i(4, 6, high=5).astype(dtype)], outputs=4, sorted=0)
    yield case("Unique", [i(6, 2, high=2)], outputs=4, axis=0)
    yield case("Unique", [i(2, 6, 2, high=2).astype(F)], outputs=4, axis=-2, sorted=0)
    yield case("Unique", [f(9)], outputs=1)
    yield case("Compress", [f(3, 4), np.array([False, True, True])], axis=0)
    yield case("Compress", [f(3, 4), np.array([True, False, True])], axis=-1)
    yield case("Compress", [f(3, 4), np.array([False, True, True, False, True])])
    yield case("Compress", [f(3, 4), Const([False, True, True])], axis=0)
    yield case("Compress", [f(3, 4), f(3, 4) > 0])
    yield case("Compress", [f(3, 4), Const(f(3, 4) > 0)])
    for indices in [Const(1, I), ints(0, 2), Const([[0, -1], [1, 2]], I), i(3, high=3), i(2, 2, high=3, low=-3)]:
        yield case("Gather", [f(3, 4), indices], axis=0)
    yield case("Gather", [f(3, 4), Const(-1, I)], axis=1)
    yield case("GatherElements", [f(3, 4), i(2, 4, high=3)], axis=0)
    yield case("GatherND", [f(3, 4, 5), i(2, 2, high=3)])
    yield case("ScatterElements", [f(3, 4), Const([[0, 2, 1, 0]], I), f(1, 4)], axis=0)
    yield case("ScatterElements", [f(3, 4), Const([[0, 2, 1, 0]], I), f(1, 4)], axis=0, reduction="add")
    yield case("ScatterND", [f(4, 3), Const([[0], [2]], I), f(2, 3)])
    # Boxes in order: whole, of some axes, with steps, of one position; and what only looks like one.
    def positions(*ranges, **options):
        return Const(np.stack(np.meshgrid(*ranges, indexing="ij", **options), -1), I)
    for ranges in [(range(2), range(4), range(5)), (range(2), range(1, 4), range(0, 5, 2)), (range(1, 2), range(4)), (range(1),), (range(2), range(0, 4, 3), range(4, 5)), (range(2), range(3, -1, -1)), (range(2), range(-4, 0))]:
        at = positions(*ranges)
        yield case("ScatterND", [f(2, 4, 5), at, f(*at.value.shape[:-1], *(2, 4, 5)[len(ranges):])])
    yield case("ScatterND", [f(4, 4), Const(np.stack([np.arange(4)] * 2, -1), I), f(4)])
    yield case("ScatterND", [f(4, 4), Const(positions(range(4), range(3)).value[..., ::-1], I), f(4, 3)])
    yield case("ScatterND", [f(2, 4), positions(range(1), range(1, 3)), f(1, 2)], 18, reduction="mul")
    for steps in (range(4), range(1, 3), range(0, 4, 2), range(3, 4), range(1, -1, -1), range(-3, 0)):
        at = np.broadcast_to(np.array(steps).reshape(-1, 1), (3, len(steps), 5))
        yield case("ScatterElements", [f(3, 4, 5), Const(at, I), f(*at.shape)], axis=1)
        yield case("ScatterElements", [f(3, 4, 5), Const(at[:2], I), f(2, *at.shape[1:])], axis=1)
    yield case("OneHot", [i(3, high=4), Const(4, I), Const([0, 1], F)])
    yield case("OneHot", [i(3, high=4), Const(4, I), Const([2, 5], F)], axis=0)
    yield case("EyeLike", [f(3, 4)], k=1)
    for upper in (0, 1):
        yield case("Trilu", [f(2, 4, 4)], upper=upper)
        for diagonal in (1, 2**63 - 1, -(2**63)):
            yield case("Trilu", [f(4, 5), Const(diagonal, I)], upper=upper)
    yield case("Range", [Const(0, I), Const(9, I), Const(2, I)])
    yield case("Range", [Const(2**63 - 5, I), Const(-(2**63), I), Const(1, I)])
    yield case("Range", [Const(0, I), Const(-10, I), Const(-(2**63), I)])
    yield case("Shape", [f(2, 3)])
    yield case("Size", [f(2, 3)])
    yield case("IsNaN", [np.array([1, np.nan, np.inf], F)])
    yield case("IsInf", [np.array([1, np.nan, np.inf, -np.inf], F)])
    for modes in [("nearest", "asymmetric", "floor"), ("nearest", "half_pixel", "round_prefer_floor"), ("linear", "half_pixel", None), ("linear", "align_corners", None),
                  ("linear", "asymmetric", None), ("cubic", "half_pixel", None), ("linear", "pytorch_half_pixel", None)]:
        attributes = {"mode": modes[0], "coordinate_transformation_mode": modes[1]} | ({"nearest_mode": modes[2]} if modes[2] else {})
        for scales in [(1, 1, 2, 2), (1, 1, 1.5, 2.5), (1, 1, 0.6, 0.5)]:
            yield case("Resize", [f(1, 2, 5, 6), None, Const(scales, F)], **attributes)
        yield case("Resize", [f(1, 2, 5, 6), None, None, ints(1, 2, 8, 9)], **attributes)
    yield case("Resize", [f(1, 2, 5), None, Const((1, 1, 2), F)], mode="linear")
    # A place half way between two elements, by a ratio of lengths that is no float32.
    for nearest in ("round_prefer_ceil", "round_prefer_floor"):
        yield case("Resize", [f(1, 1, 7), None, None, ints(1, 1, 8)], mode="nearest", nearest_mode=nearest, coordinate_transformation_mode="asymmetric")
    yield case("Upsample", [f(1, 2, 3, 4), Const((1, 1, 2, 3), F)], opset=9, mode="nearest")
    for direction, count in [("forward", 1), ("reverse", 1), ("bidirectional", 2)]:
        h, n = 5, 3
        for op, gates, outputs in [("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 2)]:
            weights = [f(4, 2, n), f(count, gates * h, n), f(count, gates * h, h), f(count, 2 * gates * h)]
            yield case(op, weights, outputs=outputs, direction=direction, hidden_size=h)
    yield case("GRU", [f(4, 2, 3), f(1, 15, 3), f(1, 15, 5), f(1, 30)], outputs=2, hidden_size=5, linear_before_reset=1)
    # Two cells alike, of which the last states are stacked.
    for steps in (1, 2):
        yield case("GRU", [f(steps, 1, 1), Const(f(2, 15, 1)), Const(f(2, 15, 5))], outputs=["", "y"], hidden_size=5, linear_before_reset=1, direction="bidirectional")
    yield case("QuantizeLinear", [f(3, 4), Const(0.02, F), Const(3, np.uint8)])
    yield case("DequantizeLinear", [i(3, 4, high=200).astype(np.uint8), Const(0.02, F), Const(3, np.uint8)])
    yield case("MatMulInteger", [i(3, 4, high=200).astype(np.uint8), i(4, 5, high=100).astype(np.uint8), Const(7, np.uint8), Const(3, np.uint8)])
    # Both matrices are the run's: whole fours of what is summed over and not, the second transposed; zero points of the run.
    for k, left, right in itertools.product([64, 19], [np.uint8, np.int8], [np.uint8, np.int8]):
        x, y = (i(2, 17, 33, k, low=-128, high=128).astype(t) for t in (left, right))
        kind, other = (t.__name__ for t in (left, right))
        # Of signed ones 7 bits: on CPUs without dot products of bytes ONNX Runtime's sums of two products saturate at 16 bits.
        yield graph("MatMulIntegerByTransposed", [x, y >> 1 if right == np.int8 else y, np.array(90).astype(left)], f"""g ({kind}[2, 17, 33, {k}] x, {other}[2, 17, 33, {k}] y, {kind} z) => (int32[2, 17, 33, 33] w)
            <{other} zero = {{3}}> {{ t = Transpose <perm: ints = [0, 1, 3, 2]> (y) w = MatMulInteger (x, t, z, zero) }}""")
        yield graph("MatMulOfDequantized", [x, y], f"""g ({kind}[2, 17, 33, {k}] x, {other}[2, 17, 33, {k}] y) => (float[2, 17, 33, 33] w) <float s = {{0.02}}, {kind} a = {{90}}, {other} b = {{3}}>
            {{ v = DequantizeLinear (x, s, a) u = DequantizeLinear (y, s, b) t = Transpose <perm: ints = [0, 1, 3, 2]> (u) w = MatMul (v, t) }}""")
    yield case("DynamicQuantizeLinear", [f(3, 4)], outputs=3)
    yield case("DynamicQuantizeLinear", [np.zeros((3, 4), np.float32)], outputs=3)
    u, b = i(2, 4, 7, 6, high=200).astype(np.uint8), i(3, 4, 3, 3, low=-90, high=90).astype(np.int8)
    scales = Const((0.01, 0.02, 0.03), F)
    yield case("QuantizeLinear", [f(2, 3, 4), scales, Const((1, -2, 3), np.int8)], axis=1)
    yield case("DequantizeLinear", [b, scales, Const((1, -2, 3), np.int8)], axis=0)
    yield case("DequantizeLinear", [i(3, 4, high=90).astype(np.int8), Const((0.02,), F)], axis=-2)
    yield case("ConvInteger", [u, i(3, 4, 3, 3, high=200).astype(np.uint8), Const(7, np.uint8), Const(9, np.uint8)], pads=[1, 1, 1, 1])
    yield case("QLinearConv", [u, Const(0.02, F), Const(7, np.uint8), b, scales, Const((0, 0, 0), np.int8), Const(0.3, F), Const(90, np.uint8), Const((100, -70, 9), np.int32)],
               opset=10, strides=[2, 2])
    yield case("QLinearMatMul", [i(2, 3, 4, high=200).astype(np.uint8), Const(0.02, F), Const(7, np.uint8), i(4, 5, high=90).astype(np.int8), Const(0.01, F), Const(0, np.int8),
                                 Const(0.04, F), Const(90, np.uint8)], opset=10)
    yield case("Dropout", [f(3, 4)])
    # What follows an operator whose result is as large as the data says.
    for k, m, n in [(0, 2, 5), (0, 64, 64), (4, 0, 3), (4, 3, 0)]:
        yield case("MatMul", [f(m, k), Const(f(k, n))])
        yield case("MatMul", [f(3, m, k).astype(np.float64), f(k, n).astype(np.float64)])
        yield case("Gemm", [f(m, k), Const(f(k, n)), f(n)])
    # What only the run tells: how operands broadcast.
    for n in (1, 3):
        yield graph("AddOfOneOrThree", [f(n, 4), f(3, 4)], "g (float[N, 4] x, float[3, 4] y) => (float[3, 4] z) { a = Add (x, y) z = Exp (a) }")
        yield graph("ExpandOfOneOrThree", [f(n, 4)], """g (float[N, 4] x) => (float[3, 4] z) <int64[2] shape = {3, 4}>
            { a = Expand (x, shape) z = Neg (a) }""")
    # Of lengths from 5 on the slice is empty, which the code for long rows knows.
    for m in (2, 3, 17):
        yield graph("SliceOfTile", [f(4, m, m, m)], """g (float[4, M, M, M] x) => (float[4, A, B, M] y) <int64[4] r = {1, 3, 2, 1}, int64[3] begin = {-10, 5, -1}, int64[3] end = {5, 7, -100}, int64[3] axes = {-3, -2, 3}, int64[3] steps = {1, 1, -1}>
            { t = Tile (x, r) y = Slice (t, begin, end, axes, steps) }""")
    for k, m in [(5, 5), (1, 5), (5, 1), (1, 1)]:
        yield graph("MulOfEither", [f(2, k), f(m)], "g (float[N, K] x, float[M] y) => (float[N, J] z) { a = Mul (x, y) z = Tanh (a) }")
        yield graph("SumOfThree", [f(k, 4), f(m, 4), f(5, 1)], "g (float[K, 4] x, float[M, 4] y, float[5, 1] w) => (float[J, 4] z) { z = Sum (x, y, w) }")
        yield graph("WhereOfThree", [f(k, 1) > 0, f(m, 4), f(5, 4)], "g (bool[K, 1] c, float[M, 4] x, float[5, 4] y) => (float[J, 4] z) { z = Where (c, x, y) }")
        yield graph("PowOfEither", [f(2, k, low=0.1), f(m)], "g (float[N, K] x, float[M] y) => (float[N, J] z) { z = Pow (x, y) }")
        yield graph("PReluOfEither", [f(2, 5), f(m)], "g (float[2, N] x, float[M] y) => (float[2, N] z) { z = PRelu (x, y) }")
        yield graph("GemmOfEither", [f(2, 3), f(3, 5), f(m)], "g (float[2, 3] x, float[3, N] w, float[M] y) => (float[2, N] z) { z = Gemm (x, w, y) }")
    for n, m in [(3, 3), (1, 3), (3, 1), (1, 1)]:
        yield graph("MatMulOfEither", [f(n, 2, 4), f(m, 4, 5)], "g (float[N, 2, 4] x, float[M, 4, 5] y) => (float[J, 2, 5] z) { a = MatMul (x, y) z = Neg (a) }")
    for n in (1, 3):
        yield graph("MatMulOfOneOrThree", [f(n, 2, 4), f(3, 4, 5)], "g (float[N, 2, 4] x, float[3, 4, 5] y) => (float[3, 2, 5] z) { a = MatMul (x, y) z = Neg (a) }")
    # What is never 3 has to be 1.
    yield graph("ExpandOfOne", [f(4, 2)], """g (float[N, 2] x) => (float[3, 2] y)
        <int64[1] from = {0}, int64[1] to = {2}, int64[1] axis = {0}, int64[1] step = {3}, int64[2] shape = {3, 2}>
        { a = Slice (x, from, to, axis, step) y = Expand (a, shape) }""")
    # Pads as exporters of F.pad compute them.
    yield graph("PadOfExporter", [f(1, 2, 5, 6)], """g (float[1, 2, 5, 6] x) => (float y)
        <int64[4] given = {1, 2, 0, 3}, int64[1] rest = {4}, int64[2] pairs = {-1, 2}, int64[1] from = {-1}, int64[1] to = {-9223372036854775807},
         int64[1] axis = {0}, int64[1] step = {-1}, int64[1] flat = {-1}, float value = {0.5}>
        { zeros = ConstantOfShape<value: tensor = int64[1] {0}>(rest) all = Concat<axis: int = 0>(given, zeros) two = Reshape(all, pairs)
          back = Slice(two, from, to, axis, step) turned = Transpose<perm: ints = [1, 0]>(back) row = Reshape(turned, flat)
          pads = Cast<to: int = 7>(row) y = Pad(x, pads, value) }""")
    # To a multiple of 8, as windowed attention pads; sizes that only a run knows.
    for n in (5, 8):
        yield graph("PadToMultiple", [f(1, n, 3)], """g (float[1, N, 3] x) => (float[1, M, 3] y)
            <int64[1] one = {1}, int64 eight = {8}, int64[2] front = {0, 0}, int64[2] middle = {0, 0}, int64[1] back = {0}, int64[1] shape = {1}>
            { s = Shape(x) n = Gather(s, one) r = Mod(n, eight) d = Sub(eight, r) m = Mod(d, eight) p = Concat<axis: int = 0>(front, middle, m, back) y = Pad(x, p) }""")
    # Which axes, by an operator that is only known on constants.
    yield graph("AxesByTopK", [f(3, 4, 5)], """g (float[3, 4, 5] x) => (float y) <int64[3] a = {2, 9, 0}, int64[1] k = {1}>
        { v, at = TopK(a, k) y = ReduceSum<keepdims: int = 0>(x, at) }""")
    for op in ["ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"]:
        for noop in (0, 1):
            yield graph(f"{op}OfShape", [f(2, 3)], f"""g (float[2, 3] x) => (int64 y) <int64[0] none = {{}}>
                {{ s = Shape(x) y = {op}<noop_with_empty_axes: int = {noop}, keepdims: int = 0>(s, none) }}""", opset=18)
    # Extents that are 0 or 1 in the run.
    for n, m in [(0, 1), (1, 0), (1, 1), (0, 0), (3, 1), (1, 3)]:
        yield graph("AddOfNoneAndOne", [f(n, 4), f(m, 4)], "g (float[N, 4] x, float[M, 4] y) => (float[J, 4] z) { a = Add (x, y) z = Exp (a) }")
    for n, m in [(3, 1), (1, 3), (3, 3), (1, 1)]:
        yield graph("ExpandToOther", [f(n, 4), f(m, 2)], """g (float[N, 4] x, float[M, 2] y) => (float[J, 4] z) <int64[1] zero = {0}, int64[1] four = {4}>
            { s = Shape(y) m = Gather(s, zero) t = Concat<axis: int = 0>(m, four) e = Expand(x, t) z = Neg(e) }""")
    # Dimensions that have no name of their own.
    for name in ("?", "-1", ""):
        model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> g (float[A, B] x, float[C, D] y) => (float a, float b) { a = Exp(x) b = Neg(y) }')
        for value in model.graph.input:
            for dim in value.type.tensor_type.shape.dim:
                dim.dim_param = name
        yield Case("UnnamedDimensions", [f(2, 3), f(4, 5)], model)
    yield graph("NonZeroGather", [f(6, 5)], """g (float[6,5] x) => (float y) {
        z = Constant<value: tensor = float {0.5}>() m = Greater(x, z) c = Cast<to: int = 9>(m) r = NonZero(c) t = Transpose(r)
        s = GatherND(x, t) e = Exp(s) a = Add(e, s) y = ReduceSum<keepdims: int = 0>(a) }""")
    yield graph("UniqueMatMul", [i(9)], """g (int64[9] x) => (float[n,2] y, int64[m] j) {
        u, j, v, k = Unique(x) c = Cast<to: int = 1>(u) ax = Constant<value: tensor = int64[1] {1}>() r = Unsqueeze(c, ax)
        w = Constant<value: tensor = float[1,2] {1.5, -2.0}>() p = MatMul(r, w) y = Relu(p) }""")
    yield graph("FractionsOfShapes", [f(7, 3)], """g (float[n,3] x) => (float[m] y) {
        s = Shape<start: int = 0, end: int = 1>(x) h = Cast<to: int = 1>(s) half = Constant<value: tensor = float[1] {0.5}>()
        less = Constant<value: tensor = float[1] {0.75}>() a = Mul(h, half) b = Sub(a, less) c = Floor(b) d = Cast<to: int = 7>(c) y = ConstantOfShape(d) }""")
    yield graph("SliceSoftmax", [f(2, 7, 4), np.array([5], I)], """g (float[2,n,4] x, int64[1] len) => (float[2,m,4] y) {
        z = Constant<value: tensor = int64[1] {0}>() ax = Constant<value: tensor = int64[1] {1}>() s = Slice(x, z, len, ax)
        e = Softmax(s) r = ReduceMean<axes: ints = [2], keepdims: int = 1>(e) y = Sub(s, r) }""")


def build(case):
    """A model of one node, or of the graph whose text the case is, and its inputs."""
    if not isinstance(case.opset, int):
        model = onnx.parser.parse_model(case.opset) if isinstance(case.opset, str) else case.opset
        return model, {value.name: array for value, array in zip(model.graph.input, case.inputs)}
    names, graph_inputs, initializers, feed = [], [], [], {}
    for index, value in enumerate(case.inputs):
        name = "" if value is None else f"x{index}"
        names.append(name)
        if isinstance(value, Const):
            initializers.append(numpy_helper.from_array(value.value, name))
        elif value is not None:
            value = np.asarray(value)
            graph_inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            feed[name] = value
    results = [f"y{index}" for index in range(case.outputs)] if isinstance(case.outputs, int) else case.outputs
    node = helper.make_node(case.op, names, results, name=f"/{case.op}", domain=case.domain, **case.attributes)
    graph = helper.make_graph([node], "g", graph_inputs, [onnx.ValueInfoProto(name=name) for name in results if name], initializers)
    opsets = [helper.make_opsetid("", 17 if case.domain else case.opset)]
    if case.domain:
        opsets.append(helper.make_opsetid(case.domain, case.opset))
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    return onnx.shape_inference.infer_shapes(model), feed


def all_cases():
    return [*cases(), *contrib_cases.cases(), *contrib_language_cases.cases(), *contrib_optimised_cases.cases(), *contrib_standard_cases.cases(), *contrib_symbol_cases.cases(build), *feature_cases.cases(), *generation_cases.cases(),
            *nchwc_cases.cases(), *early_cases.cases(), *run_time_cases.cases(), *sequence_cases.cases(), *vector_cases.cases()]


def describe(index, case):
    shapes = ", ".join("-" if v is None else f"const{list(v.value.shape)}" if isinstance(v, Const) else str(list(np.shape(v))) for v in case.inputs)
    return f"{index:4} {case.op}-{case.opset if isinstance(case.opset, int) else 'graph'} ({shapes}) {case.attributes or ''}"


def disagreement(result, expected, case):
    """Why they differ by more than the case allows, or None."""
    if case.steps and result.dtype == expected.dtype and result.shape == expected.shape and expected.dtype.kind in "iu":
        most = int(np.abs(result.astype(I) - expected.astype(I)).max(initial=0))
        return None if most <= case.steps else f"differs by {most} steps"
    if case.defined is not None and result.shape == expected.shape:
        result = np.where(case.defined(expected), result, expected)
    error = difference(result, expected)
    return None if not isinstance(error, str) and error <= case.tolerance else f"{error}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--mode", default="compile")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="of each N cases that one")
    parser.add_argument("--sample", action="store_true", help="fewer cases of operators that have many")
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "run_cases")
    parser.add_argument("--chunk", type=int, default=100)
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    pending, failures, total = [], 0, 0
    sampled = arguments.sample and not os.environ.get("DEUTERON_WHOLE")
    seen = collections.Counter()

    def flush():
        nonlocal failures
        status = subprocess.run([str(arguments.binary), arguments.mode, *[str(folder) for folder, _, _, _ in pending]], timeout=1800).returncode
        if status != 0:  # a sanitizer's findings at the end among them
            failures += 1
            print(f"FAILED {pending[0][1]} to {pending[-1][1]}\n       status {status} of the process that ran them", flush=True)
        for folder, text, reference, one in pending:
            problem = None
            if (folder / "error.txt").exists():
                problem = (folder / "error.txt").read_text()[:300]
            for index, expected in enumerate(reference if arguments.mode != "import" else []):
                if problem is not None:
                    break
                path = folder / f"out_{index}.npy"
                error = disagreement(np.load(path), expected, one) if path.exists() else "is missing"
                if error is not None:
                    problem = f"output {index}: {error}"
            if problem is not None:
                failures += 1
                print(f"FAILED {text}\n       {problem}", flush=True)
        pending.clear()

    with tempfile.TemporaryDirectory() as temporary:
        for index, one in enumerate(all_cases()):
            if not re.search(arguments.pattern, one.op):
                continue
            seen[one.op] += 1
            if index % parts != part or (sampled and seen[one.op] > 6 and seen[one.op] % 4 != 0):
                continue
            text = describe(index, one)
            folder = pathlib.Path(temporary) / str(index)
            folder.mkdir()
            try:
                model, feed = build(one)
                onnx.save(model, folder / "model.onnx")
                options = onnxruntime.SessionOptions()
                options.log_severity_level = 4
                reference = one.expected or onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feed)
            except Exception as error:  # noqa: BLE001: the peer does not have every case
                print(f"skipped {text}: ONNX Runtime: {str(error).splitlines()[0][:120]}")
                continue
            for position, value in enumerate(feed.values()):
                np.save(folder / f"{position}.npy", value)
            total += 1
            pending.append((folder, text, reference, one))
            if len(pending) >= arguments.chunk:
                flush()
        if pending:
            flush()
    print(f"{total} cases, {failures} failures")
    sys.exit(5 if failures else 0)


if __name__ == "__main__":
    main()
