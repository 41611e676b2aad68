"""Operators of com.microsoft and com.ms.internal.nhwc that ONNX Runtime's optimisers and converters write for devices.

Most have no kernel for CPUs there: what is expected is computed here, by their definition or by the operators of ONNX.
"""

import dataclasses
import math

import numpy as np
import onnx
import onnxruntime
from case import F, I, Case, Const, case, contrib, f, graph, i
from contrib_cases import bytes_of, half
from onnx import helper

N, H = np.int32, np.float16


def known(one, *expected):
    return dataclasses.replace(one, expected=list(expected))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def by_onnx(op, inputs, **attributes):
    """What ONNX Runtime makes of an operator of ONNX."""
    names = [f"x{n}" if value is not None else "" for n, value in enumerate(inputs)]
    values = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in zip(names, inputs) if name]
    node = helper.make_node(op, names, ["y"], **attributes)
    model = helper.make_model(helper.make_graph([node], "g", values, [onnx.ValueInfoProto(name="y")]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {name: value for name, value in zip(names, inputs) if name})[0]


def last(x):
    return np.moveaxis(x, 1, -1).copy()


def positions():
    """Biases by distance."""
    def bucket(distance, buckets, farthest, both):
        start = 0
        if both:
            buckets //= 2
            start = buckets if distance > 0 else 0
            distance = abs(distance)
        else:
            distance = max(-distance, 0)
        exact = buckets // 2
        if distance < exact:
            return start + distance
        share = np.log(F(distance) / F(exact)) / np.log(F(farthest) / F(exact))
        return start + min(exact + int(share * F(buckets - exact)), buckets - 1)

    for buckets, farthest, both in [(32, 128, 1), (32, 128, 0), (8, 20, 1), (6, 9, 0)]:
        for length in (1, 7, 40):
            table, size = f(buckets, 3), np.array(length)
            at = [[bucket(k - q, buckets, farthest, both) for k in range(length)] for q in range(length)]
            expected = table.reshape(3, buckets)[:, at][None]
            for given in (size, Const(length)):
                yield known(contrib("RelativePositionBias", [Const(table), given, given], max_distance=farthest, is_bidirectional=both), expected)
    yield known(contrib("RelativePositionBias", [half(table), np.array(40), np.array(40)], max_distance=farthest, is_bidirectional=both), half(expected))
    heads, d, wide = 2, 4, 6
    for convert in (lambda x: x, half):
        for b, s in [(2, 5), (1, 1)]:
            x, bias, scores, weight, bias2, eco = f(b, s, heads * d), f(heads * d), f(1, heads, s, s), f(d, wide), f(wide), f(1, heads, 1, 1)
            x, bias, scores, weight, bias2, eco = map(convert, (x, bias, scores, weight, bias2, eco))
            q = (x.astype(F) + bias.astype(F)).reshape(b, s, heads, d).transpose(0, 2, 1, 3)
            gates = 1 / (1 + np.exp(-(q @ weight.astype(F) + bias2.astype(F)).reshape(b, heads, s, 2, wide // 2).sum(-1)))
            u, r = gates[..., :1], gates[..., 1:]
            y = (u * (r * eco.astype(F) - 1) + 2) * scores.astype(F)
            yield known(contrib("GatedRelativePositionBias", [x, bias, scores, weight, bias2, eco], num_heads=heads), y.astype(x.dtype))
    offsets = np.array([[0, 1, 5, 6, 7], [2, 3, 4, 8, 9]], N)
    x, scores = f(5, heads * d), f(1, heads, 5, 5)
    padded = np.zeros((10, heads * d), F)
    padded[offsets.ravel()[:5]] = x + bias.astype(F)
    q = padded.reshape(2, 5, heads, d).transpose(0, 2, 1, 3)
    weight, bias2, eco = f(d, wide), f(wide), f(1, heads, 1, 1)
    gates = 1 / (1 + np.exp(-(q @ weight + bias2).reshape(2, heads, 5, 2, wide // 2).sum(-1)))
    y = (gates[..., :1] * (gates[..., 1:] * eco - 1) + 2) * scores
    yield known(contrib("GatedRelativePositionBias", [x, bias.astype(F), scores, weight, bias2, eco, offsets], num_heads=heads), y)


def packed():
    """Sequences without their padding."""
    heads, d, wide = 2, 4, 6
    for counts in [(3, 5, 1), (5, 5, 5), (0, 2, 4), (4,)]:
        b, s = len(counts), 5
        places = [row * s + t for row in range(b) for t in range(counts[row])]
        rest = [row * s + t for row in range(b) for t in range(counts[row], s)]
        offsets, sums = np.array(places + rest, N).reshape(b, s), np.cumsum([0, *counts]).astype(N)
        for convert in (lambda x: x, half):
            x = convert(f(b, s, wide))
            rows = x.reshape(b * s, wide)[places]
            yield known(contrib("RemovePadding", [x, np.array(counts, N)], 4), rows, offsets, sums, np.array([max(counts)], N))
            restored = np.zeros((b * s, wide), x.dtype)
            restored[places] = rows
            yield known(contrib("RestorePadding", [rows, offsets]), restored.reshape(b, s, wide))
        powers, restored = np.exp(f(b, s, wide).reshape(b * s, wide)[places]), np.zeros((b * s, wide), F)
        restored[places] = powers
        yield known(graph("PaddingOfAnySize", [f(b, s, wide), np.array(counts, N)], """g (float[B, S, W] x, int32[B] n) => (float y, float z) {
            r, o, c, m = com.microsoft.RemovePadding(x, n) y = Exp(r) z = com.microsoft.RestorePadding(y, o) }"""), powers, restored.reshape(b, s, wide))
        tokens = len(places)
        x, weight, bias = f(tokens, wide), f(wide, 3 * heads * d, low=-0.5, high=0.5), f(3 * heads * d)
        for own, scale, added in [(None, None, None), (8, 0.3, f(1, heads, s, s)), (6, None, f(b, 1, s, s))]:
            v = own or heads * d
            w, c = weight[:, : 2 * heads * d + v], bias[: 2 * heads * d + v]
            parts = np.split(x @ w + c, [heads * d, 2 * heads * d], axis=1)

            def attended(q, k, v):
                y = []
                for row in range(b):
                    if counts[row] == 0:
                        continue
                    one = [part[sums[row] : sums[row + 1]].reshape(counts[row], heads, -1).transpose(1, 0, 2) for part in (q, k, v)]
                    scores = one[0] @ one[1].transpose(0, 2, 1) * (scale or 1 / math.sqrt(d))
                    if added is not None:
                        scores = scores + np.broadcast_to(added, (b, heads, s, s))[row, :, : counts[row], : counts[row]]
                    y.append((softmax(scores) @ one[2]).transpose(1, 0, 2).reshape(counts[row], -1))
                return np.concatenate(y)

            extra = {**({"scale": scale} if scale else {}), **({"qkv_hidden_sizes": [heads * d, heads * d, v]} if own else {})}
            yield known(contrib("PackedAttention", [x, w, c, offsets, sums, added], num_heads=heads, **extra), attended(*parts))
            extra.pop("qkv_hidden_sizes", 0)
            yield known(contrib("PackedMultiHeadAttention", [*(p.copy() for p in parts), None, offsets, sums, added], num_heads=heads, **extra), attended(*parts))
            plain = np.split(x @ w, [heads * d, 2 * heads * d], axis=1)
            yield known(contrib("PackedMultiHeadAttention", [*(p.copy() for p in plain), c, offsets, sums, added], num_heads=heads, **extra), attended(*parts))
            if own is None:
                stacked = np.stack([p.reshape(tokens, heads, d) for p in plain], axis=2)
                yield known(contrib("PackedMultiHeadAttention", [stacked, None, None, c, offsets, sums], num_heads=heads), attended(*parts))
                names = "float[T, W] x, float[W, P] w, float[P] c, int32[B, S] o, int32[A] n"
                yield known(graph("PackedAttentionOfAnySize", [x, w, c, offsets, sums], f"g ({names}) => (float y) {{ y = com.microsoft.PackedAttention<num_heads: int = 2>(x, w, c, o, n) }}"),
                            attended(*parts))
                yield known(contrib("PackedAttention", [half(x), half(w), half(c), offsets, sums], num_heads=heads), half(attended(*parts)))


def caches():
    """Attention whose cache is written in place: its keys in blocks of 16 bytes, and as they are."""
    b, heads, capacity, d, wide = 2, 2, 8, 16, 12
    width = heads * d
    weight, bias = f(wide, 3 * width, low=-0.5, high=0.5), f(3 * width)

    def blocks(keys, size):
        return keys.reshape(b, heads, capacity, d // size, size).transpose(0, 1, 3, 2, 4).reshape(b, heads, capacity, d)

    def attended(x, cache, before, mask=None, added=None, causal=False):
        s = x.shape[1]
        q, k, v = (part.reshape(b, s, heads, d).transpose(0, 2, 1, 3) for part in np.split(x @ weight + bias, 3, axis=2))
        cache = cache.copy()
        cache[0, :, :, before : before + s], cache[1, :, :, before : before + s] = k, v
        keys, values = cache[:, :, :, : before + s]
        scores = q @ keys.transpose(0, 1, 3, 2) / math.sqrt(d)
        if mask is not None:
            scores = scores + np.where(mask, 0, -10000.0)[:, None, None, :]
        if added is not None:
            scores = scores + added
        if causal:
            scores = np.where(np.tril(np.ones((s, before + s)), before), scores, -np.inf)
        return (softmax(scores) @ values).transpose(0, 2, 1, 3).reshape(b, s, width).astype(F), cache

    for before in (0, 3, 7):
        x, cache = f(b, 1, wide), f(2, b, heads, capacity, d)
        mask = np.ones((b, before + 1), N)
        mask[1, :1] = before == 0
        for seen, added in [(None, None), (mask, f(b, heads, 1, before + 1))]:
            y, filled = attended(x, cache, before, seen, added)
            for size, convert in ((4, lambda a: a), (8, half)):
                laid_out = [np.stack([blocks(c[0], size), c[1]]) for c in (cache, filled)]
                inputs = [x, weight, bias, seen, laid_out[0], added, np.array([before], N)]
                inputs = [convert(a) if a is not None and a.dtype == F else a for a in inputs]
                one = contrib("DecoderMaskedSelfAttention", inputs, 2, num_heads=heads, past_present_share_buffer=1)
                yield dataclasses.replace(known(one, convert(y), convert(laid_out[1])), tolerance=1e-4 if size == 4 else 1e-2)
        for s in (1, 2):
            if before + s > capacity:
                continue
            x = f(b, s, wide)
            y, filled = attended(x, cache, before, causal=True)
            yield known(contrib("Attention", [x, weight, bias, None, cache, None, np.array([before], N)], 2, num_heads=heads, unidirectional=1, past_present_share_buffer=1), y, filled)


def channels_last():
    x, w, bias = f(2, 4, 7, 6), f(6, 2, 3, 3), f(6)
    for attributes in ({"group": 2}, {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1]}, {"group": 2, "auto_pad": "SAME_UPPER"}, {"group": 2, "dilations": [1, 2]}):
        for given in (bias, None):
            y = last(by_onnx("Conv", [x, w, given], **attributes))
            yield known(contrib("NhwcConv", [last(x), Const(last(w)), given], **attributes), y)
            yield known(contrib("NhwcFusedConv", [last(x), Const(w), given], **attributes), y)
            yield known(contrib("NhwcFusedConv", [last(x), w, given, y[::-1].copy()], activation="Relu", **attributes), np.maximum(y + y[::-1], 0))
    yield known(contrib("NhwcFusedConv", [last(x), Const(w)], group=2, activation="LeakyRelu", activation_params=[0.2]),
                (lambda y: np.where(y < 0, F(0.2) * y, y))(last(by_onnx("Conv", [x, w], group=2))))
    yield known(contrib("NhwcConv", [half(last(x)), Const(half(last(w))), half(bias)], group=2), half(last(by_onnx("Conv", [x, w, bias], group=2))))
    yield known(graph("NhwcConvOfAnySize", [last(x), last(w)], "g (float[N, H, W, C] x, float[6, 3, 3, 2] w) => (float y) { y = com.microsoft.NhwcConv<group: int = 2, kernel_shape: ints = [3, 3]>(x, w) }"),
                last(by_onnx("Conv", [x, w], group=2)))
    yield known(contrib("NhwcConv", [last(x[..., 0]), Const(last(w[..., 0])), bias], group=2), last(by_onnx("Conv", [x[..., 0].copy(), w[..., 0].copy(), bias], group=2)))
    statistics = [f(4), f(4, seed=1), f(4, seed=2), f(4, low=0.5, high=1)]
    families = [("Conv", [x, w, bias], {"group": 2, "pads": [1, 1, 1, 1]}), ("ConvTranspose", [x, f(4, 5, 2, 2), f(5)], {"strides": [2, 2]}),
                ("MaxPool", [x], {"kernel_shape": [2, 2]}), ("AveragePool", [x], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}), ("LpPool", [x], {"kernel_shape": [2, 2]}),
                ("GlobalAveragePool", [x], {}), ("GlobalMaxPool", [x], {}), ("GlobalLpPool", [x], {}), ("BatchNormalization", [x, *statistics], {}),
                ("InstanceNormalization", [x, f(4), f(4, seed=1)], {}), ("LRN", [x], {"size": 3}), ("DepthToSpace", [x], {"blocksize": 2}),
                ("SpaceToDepth", [f(2, 3, 4, 6)], {"blocksize": 2}), ("GridSample", [x, f(2, 5, 3, 2, low=-1, high=1)], {})]
    for op, inputs, attributes in families:
        yield known(Case(op, [last(inputs[0]), *inputs[1:]], 17, 1, attributes, "com.ms.internal.nhwc"), last(by_onnx(op, inputs, **attributes)))
    resized = by_onnx("Resize", [x, None, np.array([1, 1, 2, 1.5], F)], mode="linear")
    yield known(Case("Resize", [last(x), None, Const([1, 2, 1.5, 1], F)], 17, 1, {"mode": "linear"}, "com.ms.internal.nhwc"), last(resized))
    data, weight = bytes_of(2, 4, 7, 6), bytes_of(5, 4, 3, 3, low=-64, high=63, dtype=np.int8)
    scales, zeros = [np.array(s, F) for s in (0.02, 0.01, 0.5)], [np.array(120, np.uint8), np.array(0, np.int8), np.array(100, np.uint8)]
    parameters = [scales[0], zeros[0], weight, scales[1], zeros[1], scales[2], zeros[2]]
    constants = [Const(p) for p in parameters]
    y = by_onnx("QLinearConv", [data, *parameters], pads=[1, 1, 1, 1])
    yield known(Case("QLinearConv", [last(data), *constants], 17, 1, {"pads": [1, 1, 1, 1]}, "com.ms.internal.nhwc", 1), last(y))
    for by_channel in (False, True):
        factors = f(5, low=0.01, high=0.02) if by_channel else scales[1]
        weight, addend = bytes_of(4, 5, 2, 3, low=-64, high=63, dtype=np.int8), bytes_of(5, low=-900, high=900, dtype=N)
        for given, attributes in [(addend, {"strides": [2, 2]}), (None, {"pads": [1, 0, 0, 1], "output_padding": [1, 0], "strides": [2, 1]})]:
            shaped = factors.reshape(1, -1, 1, 1) if by_channel else factors
            plain = [(data.astype(F) - 120) * F(0.02), weight.astype(F) * shaped, None if given is None else given * (F(0.02) * factors)]
            y = by_onnx("ConvTranspose", [a if a is None else a.astype(F) for a in plain], **attributes)
            y = np.clip(np.rint(y / F(0.5)) + 100, 0, 255).astype(np.uint8)
            zero = Const(np.zeros(5, np.int8)) if by_channel else constants[4]
            inputs = [last(data), *constants[:2], Const(weight), Const(factors), zero, *constants[5:], None if given is None else Const(given)]
            yield known(Case("QLinearConvTranspose", inputs, 17, 1, attributes, "com.ms.internal.nhwc", 1), last(y))


def products():
    for convert in (lambda x: x, half):
        a, b, bias = convert(f(2, 3, 4)), convert(f(4, 5)), convert(f(5))
        y = a.astype(F) @ b.astype(F)
        yield known(contrib("GemmFastGelu", [a, b, bias]), gelu(y + bias.astype(F)).astype(a.dtype))
        yield known(contrib("GemmFastGelu", [a, b]), gelu(y).astype(a.dtype))
        yield known(contrib("FusedMatMulActivation", [a, b], activation="Relu", alpha=0.5), np.maximum(0.5 * y, 0).astype(a.dtype))
        yield known(contrib("FusedMatMulActivation", [a, b.T.copy()], transB=1, activation="LeakyRelu", activation_alpha=0.25), np.where(y < 0, 0.25 * y, y).astype(a.dtype))
        yield known(contrib("FusedMatMulActivation", [a, b], activation="Softmax", activation_axis=1), softmax(y, 1).astype(a.dtype))
        yield known(contrib("FusedMatMulActivation", [a, b], activation="LogSoftmax"), np.log(softmax(y)).astype(a.dtype))
    x, w, bias = f(1, 3, 4, 5), f(3, 4, 3, 2), f(4)
    # ONNX Runtime's own kernel.
    for attributes in ({}, {"strides": [2, 2]}, {"strides": [2, 1], "dilations": [1, 2]}, {"strides": [3, 2], "output_padding": [1, 1]}):
        for pads in ([0, 0, 0, 0], [1, 0, 0, 1]):
            for given in (np.array(pads), Const(pads)):
                yield contrib("ConvTransposeWithDynamicPads", [x, w, given, bias], **attributes)
        # Which needs pads.
        yield known(contrib("ConvTransposeWithDynamicPads", [x, w], **attributes), by_onnx("ConvTranspose", [x, w], **attributes))


def scores():
    for data, bias, axis, in_a_row in [((2, 3, 4, 5), (2, 1, 1, 5), 3, 1), ((2, 3, 4, 5), (1, 1, 4, 5), 3, 0), ((2, 3, 4, 5), (4, 5), 3, 0), ((2, 3, 4, 5), (2, 1, 4, 5), 2, 1),
                                       ((2, 3, 5), (2, 3, 5), 2, 1)]:
        for convert in (lambda x: x, half, lambda x: x.astype(np.float64)):
            x, y = convert(f(*data)), convert(f(*bias))
            total = (x.astype(np.float64) + y).reshape(*data[:axis], -1)
            expected = softmax(total).reshape(data).astype(x.dtype)
            yield known(contrib("BiasSoftmax", [x, y], axis=axis, is_inner_broadcast=in_a_row), expected)
        if axis == 3 and len(bias) == 4:
            names = "float[B, 1, 1, S] m" if in_a_row else "float[1, 1, Q, S] m"
            yield known(graph("BiasSoftmaxOfAnySize", [f(*data), f(*bias)], f"g (float[B, H, Q, S] x, {names}) => (float y) {{ y = com.microsoft.BiasSoftmax<axis: int = 3, is_inner_broadcast: int = {in_a_row}>(x, m) }}"),
                        softmax(f(*data) + f(*bias)))
    x, bias, more = f(2, 3, 4), f(4), f(2, 3, 4, seed=1)
    yield known(contrib("BiasDropout", [x, bias, more], 2), x + bias + more, np.ones(x.shape, bool))
    yield known(contrib("BiasDropout", [x, bias, None, Const(0.3, F), Const(False)]), x + bias)
    yield known(contrib("BiasDropout", [x, f(2, 3, 4, seed=2), more, Const(0.0, F), Const(True)]), x + f(2, 3, 4, seed=2) + more)
    yield known(contrib("BitmaskDropout", [x, Const(0.3, F)]), x)
    yield known(contrib("BitmaskBiasDropout", [x, bias, more]), x + bias + more)


def tables():
    for dtype in (F, H, np.float64, np.int8, np.int64):
        table, at = (10 * f(7, 4)).astype(dtype), i(2, 3, high=7)
        yield known(contrib("TorchEmbedding", [table, at, Const(2), Const(True)]), table[at])
    yield known(contrib("TorchEmbedding", [Const(f(7, 4)), np.array(3)]), f(7, 4)[3])
    # ONNX Runtime's own kernels.
    for size, shape in [(1, (2, 5)), (2, (2, 9)), (3, (3, 20)), (4, (2, 3)), (5, (2, 3))]:
        words = i(*shape, high=3)
        yield contrib("NGramRepeatBlock", [words, f(shape[0], 6)], ngram_size=size)
        yield graph("NGramsOfAnySize", [words, f(shape[0], 6)], f"g (int64[B, S] x, float[B, V] s) => (float y) {{ y = com.microsoft.NGramRepeatBlock<ngram_size: int = {size}>(x, s) }}")
    for dtype in (np.int32, np.uint32):
        for attributes in ({}, {"positive": 0}, {"seed": 7}, {"seed": 3000000000, "positive": 0}):
            yield contrib("MurmurHash3", [bytes_of(3, 4, low=0, high=1 << 31, dtype=np.int64).astype(dtype)], **attributes)
    yield contrib("MurmurHash3", [np.array(-5, np.int32)])

    def rotated(x, bits):
        return (x << bits | x >> (32 - bits)) & 0xFFFFFFFF

    def murmur(key, seed):
        h = seed
        for at in range(0, len(key), 4):
            k = rotated(int.from_bytes(key[at : at + 4], "little") * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
            h = (rotated(h ^ k, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
        h ^= len(key)
        h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
        h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
        return h ^ h >> 16

    # Of dtypes that its schema has and its kernel for CPUs does not.
    for x in (f(3, 5), f(3, 5).astype(np.float64), bytes_of(2, 3, low=0, high=1 << 62, dtype=np.int64), bytes_of(2, 3, low=0, high=1 << 62, dtype=np.uint64)):
        hashes = np.array([murmur(value.tobytes(), 9) for value in x.ravel()], np.uint32).reshape(x.shape)
        yield known(contrib("MurmurHash3", [x], seed=9), hashes)
        yield known(contrib("MurmurHash3", [x], seed=9, positive=0), hashes.view(np.int32))


def complex_numbers():
    for dtype in (F, np.float64, H):
        a, b = f(2, 3, 2).astype(dtype), f(3, 2, seed=1).astype(dtype)
        x, y = a[..., 0] + 1j * a[..., 1].astype(np.float64), b[..., 0] + 1j * b[..., 1].astype(np.float64)
        for op, z in [("ComplexMul", x * y), ("ComplexMulConj", x * y.conj())]:
            yield known(contrib(op, [a, b]), np.stack([z.real, z.imag], -1).astype(dtype))
        signal = f(2, 3, 8).astype(dtype)
        for axes in (1, 2, 3):
            spectrum = np.fft.rfftn(signal.astype(np.float64), axes=tuple(range(3 - axes, 3)))
            parts = np.stack([spectrum.real, spectrum.imag], -1).astype(dtype)
            yield known(contrib("Rfft", [signal], signal_ndim=axes), parts)
            yield known(contrib("Irfft", [parts], signal_ndim=axes), signal)
    spectrum = np.fft.rfft(f(2, 9))
    yield known(contrib("Rfft", [f(2, 9)]), np.stack([spectrum.real, spectrum.imag], -1).astype(F))
    yield known(graph("RfftOfAnyLength", [f(2, 8)], "g (float[B, N] x) => (float z) { y = com.microsoft.Rfft(x) z = com.microsoft.Irfft<signal_ndim: int = 1>(y) }"), f(2, 8))


def integers():
    a, b = bytes_of(2, 3, 4), bytes_of(3, 1, seed=1)
    for first, second in [(a, b), (bytes_of(2, 3, 4, low=-100, high=100, dtype=np.int8), bytes_of(3, 1, low=-100, high=100, dtype=np.int8))]:
        zero = np.array(5, first.dtype)
        wide = first.astype(N), second.astype(N)
        yield known(contrib("MulInteger", [first, None, second]), wide[0] * wide[1])
        yield known(contrib("MulInteger", [first, Const(zero), second, Const(zero)]), (wide[0] - 5) * (wide[1] - 5))
        to = np.uint32 if first.dtype == np.uint8 else N
        for keep in (0, 1):
            yield known(contrib("ReduceSumInteger", [first], axes=[-1, 0], keepdims=keep), wide[0].sum((0, 2), keepdims=bool(keep)).astype(to))
    far = f(3, 4)
    for wrong in (1.0, np.nan, np.inf, -np.inf):
        for dtype in (F, H, np.float64):
            x = far.astype(dtype)
            x[1, 2] = wrong
            yield known(contrib("IsAllFinite", [far.astype(dtype), x]), np.array(np.isfinite(wrong)))
            yield known(contrib("IsAllFinite", [x], isnan_only=1), np.array(not np.isnan(wrong)))
            yield known(contrib("IsAllFinite", [x], isinf_only=1), np.array(not np.isinf(wrong)))
    yield known(contrib("IsAllFinite", [f(0, 3)]), np.array(True))


def bits():
    """BitCast of operator set 26, in ONNX Runtime."""
    for x, to in [(f(2, 3), np.int32), (f(2, 3), np.uint32), (i(2, 3, high=1 << 40), np.float64), (f(2, 3).astype(H), np.int16), (f(2, 3).astype(H), np.uint16),
                  (bytes_of(2, 3), np.int8), (np.array([[True, False]]), np.uint8), (np.array(1.5, F), np.int32), (np.uint8([[1, 0]]), np.bool_)]:
        one = case("BitCast", [x], opset=26, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))
        yield known(one, x.view(to) if x.ndim else np.array(x.reshape(1).view(to)[0]))
    yield known(graph("BitCastOfAnySize", [f(2, 3)], f"g (float[A, B] x) => (int32 y) {{ z = Neg(x) b = BitCast<to: int = 6>(z) o = BitCast<to: int = 6>(x) y = Add(b, o) }}", opset=26),
                (-f(2, 3)).view(N) + f(2, 3).view(N))


def cases():
    for family in (positions, packed, caches, channels_last, products, scores, tables, complex_numbers, integers, bits):
        yield from family()
