"""Operators of com.microsoft that ONNX has too, or nearly."""

import numpy as np
from case import F, I, Const, contrib, f, graph, i
from contrib_cases import bytes_of

N = np.int32


def quantisation():
    """As quantisers write it for operator sets before 21: numbers of 16 and 4 bits, a zero point that is left out."""
    x = f(2, 3, 8)
    for dtype, zero in [(np.uint8, 120), (np.int8, -3), (np.uint16, 30000), (np.int16, -200)]:
        scale = Const(0.002 if dtype in (np.uint16, np.int16) else 0.02, F)
        yield contrib("QuantizeLinear", [x, scale, Const(zero, dtype)], steps=1)
        rows = Const(f(3, low=0.01, high=0.03))
        yield contrib("QuantizeLinear", [x, rows, Const(np.full(3, zero, dtype))], steps=1, axis=1)
        numbers = bytes_of(2, 3, 8, low=0, high=120).astype(dtype)
        yield contrib("DequantizeLinear", [numbers, scale, Const(zero, dtype)])
        yield contrib("DequantizeLinear", [numbers, rows, Const(np.full(3, zero, dtype))], axis=1)
    yield contrib("QuantizeLinear", [x, Const(0.02, F)], steps=1)
    yield contrib("DequantizeLinear", [bytes_of(2, 3, 8), Const(0.02, F)])
    yield contrib("DequantizeLinear", [bytes_of(2, 3, 8, high=900, dtype=N), Const(0.02, F)])
    yield graph("Quantised in 16 bits", [f(2, 8), f(8, 5)], """g (float[N, 8] x, float[8, 5] w) => (float y)
        <float s = {0.0005}, uint16 z = {32768}, float t = {0.001}, int16 n = {0}> {
        a = com.microsoft.QuantizeLinear(x, s, z) b = com.microsoft.DequantizeLinear(a, s, z)
        c = com.microsoft.QuantizeLinear(w, t, n) d = com.microsoft.DequantizeLinear(c, t, n) y = MatMul(b, d) }""")
    data, weight = bytes_of(2, 6, 7, 4), bytes_of(6, 4, 3, 3, low=-64, high=63, dtype=np.int8)
    scales = [Const(0.02, F), Const(120, np.uint8), Const(weight), Const(f(6, low=0.01, high=0.03)), Const(np.zeros(6, np.int8)), Const(0.3, F), Const(100, np.uint8)]
    bias = Const(bytes_of(6, low=-900, high=900, dtype=N))
    for attributes in ({"pads": [1, 1, 1, 1]}, {"strides": [2, 1]}):
        yield contrib("QLinearConv", [data, *scales, bias], steps=1, channels_last=1, **attributes)
        yield contrib("QLinearConv", [data.transpose(0, 3, 1, 2).copy(), *scales, bias], steps=1, **attributes)
    yield contrib("MatMulInteger16", [bytes_of(2, 3, 8, low=-900, high=900, dtype=np.int16), bytes_of(8, 5, low=-900, high=900, dtype=np.int16)])
    ids, kinds, mask = i(2, 5, high=20).astype(N), i(2, 5, high=2).astype(N), np.array([[1, 1, 1, 0, 0], [1] * 5], N)
    tables = [Const(bytes_of(*shape, seed=n)) for n, shape in enumerate([(20, 8), (12, 8), (2, 8), (8,), (8,)])]
    factors = [Const(0.01 * (n + 1), F) for n in range(5)]
    zeros = [Const(120 + n, np.uint8) for n in range(5)]
    for given in (mask, None):
        yield contrib("QEmbedLayerNormalization", [ids, kinds, *tables, given, *factors, *zeros], 2, epsilon=1e-5)
    left_out = [None if n == 2 else value for n, value in enumerate(tables)], [None if n == 2 else value for n, value in enumerate(factors)]
    yield contrib("QEmbedLayerNormalization", [ids, None, *left_out[0], mask, *left_out[1], *[None if n == 2 else value for n, value in enumerate(zeros)]], 2)


def moves():
    x = f(3, 4, 5)
    for mode in ("constant", "reflect", "edge"):
        yield contrib("Pad", [x, Const([0, 1, 2, 0, 2, 1], I)], mode=mode)
        yield contrib("Pad", [x, np.array([0, 1, 2, 0, 2, 1], I)], mode=mode)
    yield contrib("Pad", [x, Const([0, -1, 2, 0, 2, -1], I), Const([1.5], F)])
    for first, last, step in [(0, 7, 2), (5, -4, -3)]:
        for dtype in (N, I, F, np.float64, np.int16):
            yield contrib("Range", [np.array(first, dtype), np.array([last], dtype), Const(step, dtype)])
    yield contrib("Range", [Const(2, N), Const(9, N)])
    yield contrib("Range", [np.array(2.5, F), np.array(9, F)])
    for dtype in (I, N):
        yield contrib("GatherND", [x, np.array([[0, 1], [2, 3]], dtype)])
        yield contrib("GatherND", [x.astype(np.float64), np.array([[[0]], [[2]]], dtype)])
    for mode in ("bilinear", "nearest", "bicubic"):
        for aligned in (0, 1):
            for padding in ("zeros", "border", "reflection"):
                yield contrib("GridSample", [f(2, 3, 5, 6), f(2, 4, 3, 2, low=-1.2, high=1.2)], mode=mode, align_corners=aligned, padding_mode=padding)
    for axis in (0, 2, -1, -4):
        yield contrib("ExpandDims", [x, Const(axis, N)])
    yield contrib("Unique", [np.array([2, 1, 1, 3, 4, 3], F)], 3)
    for axis, size, step in [(-1, 3, 1), (1, 2, 2), (0, 3, 1)]:
        yield contrib("UnfoldTensor", [x], dim=axis, size=size, step=step)
    yield contrib("UnfoldTensor", [i(9)], dim=0, size=4, step=3)
    for metric in ("sqeuclidean", "euclidean"):
        yield contrib("CDist", [f(7, 5), f(4, 5, seed=1)], metric=metric)
        yield contrib("CDist", [f(7, 5).astype(np.float64), f(4, 5, seed=1).astype(np.float64)], metric=metric)
    # No place lies in the middle between two pixels, where rounding decides, but one that floats hold.
    boxes = np.array([[0, 0, 1, 1], [0.12, 0.2, 0.72, 0.9], [-0.2, 0.3, 1.25, 0.5], [0.92, 0.8, 0.15, 0.2]], F)
    for mode in ("bilinear", "nearest"):
        for size in ([4, 3], [1, 5]):
            yield contrib("CropAndResize", [f(2, 3, 6, 7), boxes, np.array([0, 1, 1, 0], N), Const(size, N)], mode=mode, extrapolation_value=0.25)


def cases():
    for family in (quantisation, moves):
        yield from family()
