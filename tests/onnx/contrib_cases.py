"""Operators of com.microsoft as ONNX Runtime's optimisers, quantisers and model builders write them."""

import dataclasses
import math

import ml_dtypes
import numpy as np
import onnx.parser
from case import F, I, Case, Const, case, contrib, f, graph, i

H = np.float16


def bytes_of(*shape, low=0, high=255, dtype=np.uint8, seed=0):
    return np.random.default_rng(seed + sum(shape)).integers(low, high, shape).astype(dtype)


def half(x):
    return x.astype(H)


def unpacked(numbers, bits):
    """Those of the last axis, several in a byte."""
    parts = np.stack([(numbers >> (bits * part)) & ((1 << bits) - 1) for part in range(8 // bits)], -1)
    return parts.reshape(*numbers.shape[:-1], -1).astype(F)


def in_bytes(x, block):
    """Rows as bytes whose blocks have a scale each, and as the numbers that these stand for."""
    length, rows = x.shape[-1], x.shape[:-1]
    parts = np.zeros((*rows, -(-length // block), block), F)
    parts.reshape(*rows, -1)[..., :length] = x
    greatest = np.maximum(np.abs(parts).max(-1, keepdims=True), F(1e-30))
    return (np.rint(parts * (F(127) / greatest)) * (greatest / F(127)).astype(np.float64)).reshape(*rows, -1)[..., :length]


def products_of_bytes():
    """MatMulNBits that may multiply bytes, by the rule that ONNX Runtime has on CPUs that do."""
    for bits, k, block, n in [(4, 64, 32, 6), (4, 256, 32, 130), (4, 300, 128, 131), (4, 224, 16, 96), (8, 256, 64, 100), (2, 256, 32, 128)]:
        blocks = -(-k // block)
        weight, scales = bytes_of(n, blocks, block * bits // 8), f(n, blocks, low=0.01, high=0.1)
        zeros, bias = bytes_of(n, -(-blocks * bits // 8)), f(n)
        numbers = unpacked(weight, bits).reshape(n, -1)[:, :k].astype(np.float64)
        attributes = {"K": k, "N": n, "block_size": block, "bits": bits, "accuracy_level": 4}
        for centres in (None, zeros):
            centre = 2.0 ** (bits - 1) if centres is None else unpacked(zeros, bits)[:, :blocks].repeat(block, 1)[:, :k]
            matrix = ((numbers - centre) * scales.repeat(block, 1)[:, :k]).T
            for x, added in [(f(2, 3, k), None), (f(1, k), bias), (half(f(17, k)), half(bias)), (np.zeros((2, k), F), bias)]:
                y = in_bytes(x.astype(F), block) @ matrix + (0 if added is None else added)
                given = [Const(value.astype(x.dtype)) if value is not None else None for value in (scales, None, added)]
                rounded = scales.astype(x.dtype).astype(np.float64).repeat(block, 1)[:, :k]
                if x.dtype == H:
                    y = in_bytes(x.astype(F), block) @ ((numbers - centre) * rounded).T + added
                one = contrib("MatMulNBits", [x, Const(weight), given[0], None if centres is None else Const(zeros), None, given[2]], **attributes)
                yield dataclasses.replace(one, expected=[y.astype(x.dtype)])
    # Zero points that are no integers, and rows in another order: of floats.
    weight, scales = Const(bytes_of(130, 8, 16)), Const(f(130, 8, low=0.01, high=0.1))
    yield contrib("MatMulNBits", [f(3, 256), weight, scales, Const(f(130, 8, low=6.5, high=8.5))], K=256, N=130, block_size=32, accuracy_level=4)


def norms():
    for convert in (lambda x: x, half):
        x, skip, row, columns = convert(f(2, 3, 8)), convert(f(2, 3, 8, seed=1)), convert(f(3, 8)), [convert(f(8, seed=n)) for n in range(3)]
        for outputs in (1, ["y", "", "", "s"]):
            yield contrib("SkipLayerNormalization", [x, skip, *columns], outputs, epsilon=1e-5)
            yield contrib("SkipLayerNormalization", [x, skip, columns[0], columns[1]], outputs)
            yield contrib("SkipLayerNormalization", [x, skip, columns[0], None, columns[2]], outputs)
            yield contrib("SkipSimplifiedLayerNormalization", [x, skip, columns[0]], outputs, epsilon=1e-6)
            yield contrib("SkipSimplifiedLayerNormalization", [x, skip, columns[0], columns[1]], outputs)
        yield contrib("SkipLayerNormalization", [x, row, columns[0], columns[1]])
        yield contrib("SkipSimplifiedLayerNormalization", [x, skip, columns[0]], ["y", "mean", "inverse", "s"])
        yield contrib("QuickGelu", [x])
        yield contrib("QuickGelu", [x], alpha=1.0)
        yield contrib("FastGelu", [x])
        yield contrib("FastGelu", [x, columns[0]])
    # In ONNX's domain, whatever the operator set.
    yield case("LayerNormalization", [f(2, 3, 8), f(8), f(8)], opset=13, axis=-1)
    yield case("SimplifiedLayerNormalization", [f(2, 3, 8), f(8)], epsilon=1e-6, axis=-1)
    yield case("SimplifiedLayerNormalization", [f(2, 3, 8), f(8)], outputs=2, axis=-1)
    yield contrib("Gelu", [f(2, 3, 8)])
    yield contrib("BiasGelu", [f(2, 3, 8), f(8)])
    words, places, segments, row = f(20, 8), f(12, 8), f(2, 8), f(8)
    ids, kinds = i(2, 5, high=20).astype(np.int32), i(2, 5, high=2).astype(np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    for outputs in (2, 3):
        yield contrib("EmbedLayerNormalization", [ids, kinds, words, places, segments, row, row, mask], outputs, epsilon=1e-5)
        yield contrib("EmbedLayerNormalization", [ids, None, words, places, None, row, row], outputs)
    yield contrib("EmbedLayerNormalization", [ids, kinds, words, places, segments, row, row, None, i(2, 5, high=12).astype(np.int32)], 2)


def for_gpus():
    """What ONNX Runtime computes on GPUs only, by its definition."""
    x, bias = f(2, 3, 16), f(16)
    left, right = np.split(x + bias, 2, axis=2)
    gelu = 0.5 * right * (1 + np.vectorize(math.erf)(right / math.sqrt(2)))
    yield dataclasses.replace(contrib("BiasSplitGelu", [x, bias]), expected=[(left * gelu).astype(F)])
    yield dataclasses.replace(contrib("BiasAdd", [x, bias, f(2, 3, 16, seed=1)]), expected=[x + bias + f(2, 3, 16, seed=1)])
    image, skip, gamma, beta = f(2, 4, 5, 8), f(2, 4, 5, 8, seed=1), f(8), f(8, seed=1)
    for last in (0, 1):
        for activation in (0, 1):
            for name, total in [("GroupNorm", image), ("SkipGroupNorm", image + skip)]:
                groups = total.reshape(2, 20, 2, 4)
                centred = groups - groups.mean((1, 3), keepdims=True)
                y = (centred / np.sqrt((centred**2).mean((1, 3), keepdims=True) + 1e-5)).reshape(2, 4, 5, 8) * gamma + beta
                y = y / (1 + np.exp(-y)) if activation else y
                laid_out = (lambda a: a) if last else (lambda a: a.transpose(0, 3, 1, 2).copy())
                inputs = [laid_out(image), gamma, beta] + ([laid_out(skip)] if name != "GroupNorm" else [])
                one = contrib(name, inputs, channels_last=last, activation=activation, groups=2, epsilon=1e-5)
                yield dataclasses.replace(one, expected=[laid_out(y.astype(F))])


def products():
    a, b = f(2, 3, 4), f(2, 4, 5)
    yield contrib("FusedMatMul", [a, b], alpha=0.5)
    yield contrib("FusedMatMul", [a.transpose(0, 2, 1).copy(), b], transA=1)
    yield contrib("FusedMatMul", [a, b.transpose(0, 2, 1).copy()], transB=1, alpha=2.0)
    yield contrib("FusedMatMul", [f(3, 2, 4), b], transBatchA=1)
    yield contrib("FusedMatMul", [f(4, 2, 3), f(5, 2, 4)], transBatchA=1, transA=1, transBatchB=1, transB=1)
    yield contrib("FusedMatMul", [half(a), half(b)])
    yield contrib("TransposeMatMul", [a, f(5, 4)], transB=1, alpha=0.25)
    for activation, extra in [("Relu", {}), ("Tanh", {}), ("Sigmoid", {}), ("LeakyRelu", {"activation_alpha": 0.2})]:
        yield contrib("FusedGemm", [f(3, 4), f(4, 5), f(5)], activation=activation, alpha=0.5, **extra)
        parameters = {"activation_params": [0.2]} if extra else {}
        yield contrib("FusedConv", [f(1, 4, 6, 6), f(5, 4, 3, 3), f(5)], activation=activation, pads=[1, 1, 1, 1], **parameters)
    for activation, parameters in [("Elu", [0.7]), ("HardSigmoid", [0.3, 0.4]), ("Softplus", []), ("Softsign", []), ("ThresholdedRelu", [0.5]), ("ScaledTanh", [0.5, 0.3])]:
        named = dict(zip(("activation_alpha", "activation_beta"), parameters))
        yield contrib("FusedGemm", [f(3, 4), f(4, 5), f(5)], activation=activation, alpha=1.0, **named)
    yield contrib("FusedConv", [f(1, 4, 6, 6), f(5, 4, 3, 3), f(5), f(1, 5, 4, 4)], activation="Relu", kernel_shape=[3, 3])
    yield contrib("FusedConv", [f(1, 4, 6, 6), f(5, 4, 1, 1)], activation="Clip", activation_params=[-1.0, 2.0])
    yield contrib("FusedConv", [f(1, 4, 6, 6), f(5, 4, 1, 1)], activation="HardSigmoid", activation_params=[0.2, 0.4])
    for bits, k, block in [(4, 64, 32), (4, 40, 16), (8, 64, 32), (2, 64, 16)]:
        n, blocks = 6, -(-k // block)
        weight, scales = Const(bytes_of(n, blocks, block * bits // 8)), Const(f(n, blocks, low=0.01, high=0.1))
        zeros = Const(bytes_of(n, -(-blocks * bits // 8)))
        attributes = {"K": k, "N": n, "block_size": block, "bits": bits}
        yield contrib("MatMulNBits", [f(2, 3, k), weight, scales], **attributes)
        yield contrib("MatMulNBits", [f(3, k), weight, scales, zeros], **attributes)
        yield contrib("MatMulNBits", [f(3, k), weight, scales, zeros, None, Const(f(n))], **attributes)
        # Rows of the weights in another order than their blocks; by definition, for ONNX Runtime leaves out zero points in bytes then.
        order = np.random.default_rng(k).permutation(np.arange(k) // block).astype(np.int32)
        numbers, centres = unpacked(weight.value, bits).reshape(n, -1)[:, :k], unpacked(zeros.value, bits)[:, order]
        for given, centre in [(None, 2.0 ** (bits - 1)), (zeros, centres)]:
            one = contrib("MatMulNBits", [f(3, k), weight, scales, given, Const(order), Const(f(n))], **attributes)
            one.expected = [(f(3, k) @ ((numbers - centre) * scales.value[:, order]).T + f(n)).astype(F)]
            yield one
            # Counted from the last block.
            yield dataclasses.replace(one, inputs=[*one.inputs[:4], Const(order - blocks), one.inputs[5]])
    flat = [Const(bytes_of(6, 2, 16)), Const(f(12, low=0.01, high=0.1)), Const(bytes_of(6))]
    yield contrib("MatMulNBits", [f(3, 64), *flat], K=64, N=6, block_size=32)
    for bits in (4, 8):
        table, scales = Const(bytes_of(10, 64 * bits // 8)), Const(f(10, 4, low=0.01, high=0.1))
        zeros = Const(bytes_of(10, 4 * bits // 8))
        for indices in (i(3, high=10), i(2, 3, high=10, low=-10)):
            yield contrib("GatherBlockQuantized", [table, indices, scales], bits=bits, block_size=16)
            yield contrib("GatherBlockQuantized", [table, indices, scales, zeros], bits=bits, block_size=16)
    # Blocks along the axis that is gathered.
    columns = Const(bytes_of(32, 10, high=8, dtype=np.int8).astype(ml_dtypes.int4))
    scales, zeros = Const(f(2, 10, low=0.01, high=0.1)), Const(bytes_of(2, 10, high=8, dtype=np.int8).astype(ml_dtypes.int4))
    for indices in (i(3, high=32), i(2, 3, high=32, low=-32)):
        yield contrib("GatherBlockQuantized", [columns, indices, scales], block_size=16, quantize_axis=0, gather_axis=0)
        yield contrib("GatherBlockQuantized", [columns, indices, scales, zeros], block_size=16, quantize_axis=0, gather_axis=0)
    for order in (2, 3, 9):
        yield contrib("Inverse", [f(2, order, order) + 3 * np.eye(order, dtype=F)])
        yield contrib("Inverse", [half(f(2, order, order) + 3 * np.eye(order, dtype=F))])
    for upper in (0, 1):
        yield contrib("Trilu", [f(2, 4, 5), Const(1, I)], upper=upper)


def attention():
    b, s, heads, d = 2, 5, 4, 8
    width = heads * d
    x, weight, bias = f(b, s, 12), Const(f(12, 3 * width, low=-0.5, high=0.5)), Const(f(3 * width))
    lengths = np.array([3, 5], np.int32)
    masks = [None, lengths, np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32), np.array([3, 5, 0, 1], np.int32),
             np.tril(np.ones((b, s, s), np.int32))]
    for mask in masks:
        yield contrib("Attention", [x, weight, bias, mask], num_heads=heads)
    yield contrib("Attention", [x, weight, bias, masks[2]], num_heads=heads, unidirectional=1, scale=0.2)
    yield contrib("Attention", [x, weight, bias, None, None, f(b, heads, s, s)], num_heads=heads)
    yield contrib("Attention", [x, weight, bias, np.ones((b, s + 3), np.int32), f(2, b, heads, 3, d)], 2, num_heads=heads, unidirectional=1)
    yield contrib("Attention", [x, Const(f(12, 2 * width + 16, low=-0.5, high=0.5)), Const(f(2 * width + 16))], num_heads=heads,
                  qkv_hidden_sizes=[width, width, 16])
    q, k, v = f(b, s, width), f(b, 7, width, seed=1), f(b, 7, width, seed=2)
    padding = np.array([[1] * 7, [1] * 4 + [0] * 3], np.int32)
    yield contrib("MultiHeadAttention", [q, k, v], num_heads=heads)
    yield contrib("MultiHeadAttention", [q, k, v, f(3 * width)], num_heads=heads, scale=0.3)
    yield contrib("MultiHeadAttention", [q, k, v, None, padding], num_heads=heads)
    yield contrib("MultiHeadAttention", [q, k, v, None, None, f(b, heads, s, 7)], num_heads=heads)
    yield contrib("MultiHeadAttention", [q, k, v, None, None, f(1, 1, s, 7)], num_heads=heads)
    yield contrib("MultiHeadAttention", [q, k, f(b, 7, 2 * width)], num_heads=heads)
    own = [f(b, s, width, seed=n) for n in range(3)]
    past = [f(b, heads, 3, d, seed=n) for n in range(2)]
    yield contrib("MultiHeadAttention", [*own, None, None, None, *past], 3, num_heads=heads)
    yield contrib("MultiHeadAttention", [*own, None, None, None, *past], 3, num_heads=heads, unidirectional=1)
    yield contrib("MultiHeadAttention", [q, f(b, heads, 7, d), f(b, heads, 7, d, seed=1)], num_heads=heads)
    # Lengths, and where packed sequences begin.
    yield contrib("MultiHeadAttention", [q, k, v, None, np.array([7, 4, 0, 5, 5, 0, 7, 4], np.int32)], num_heads=heads)
    yield graph("MultiHeadAttentionWithScores", [q, k, v, padding], """g (float[B, S, 32] q, float[B, T, 32] k, float[B, T, 32] v, int32[B, T] m) => (float[B, S, 32] y, float[B, 4, S, T] z) {
        y, , , z = com.microsoft.MultiHeadAttention<num_heads: int = 4>(q, k, v, , m) }""")
    # Caches with room for more, written in place; beams that go on from others.
    cache, bias, indirection = [f(b, heads, 9, d, seed=n) for n in range(2)], f(3 * width), i(1, 2, 9, high=2).astype(np.int32)
    for length, before in [(1, 4), (1, 8), (3, 0), (3, 5)]:
        new, past = [f(b, length, width, seed=n) for n in range(3)], np.array([before], np.int32)
        seen = np.ones((b, before + length), np.int32)
        seen[1, 0] = 0
        yield contrib("MultiHeadAttention", [*new, None, None, None, *cache, past], 3, num_heads=heads)
        yield contrib("MultiHeadAttention", [*new, bias, seen, f(b, heads, length, before + length), *cache, past], 3, num_heads=heads, unidirectional=1)
        if length == 1:
            yield contrib("DecoderMaskedMultiHeadAttention", [*new, seen, None, *cache, past, None, None, bias], 3, num_heads=heads, past_present_share_buffer=1)
            yield contrib("DecoderMaskedMultiHeadAttention", [*new, None, None, *cache, past, np.array([2], np.int32), indirection], 3, num_heads=heads,
                          past_present_share_buffer=1)
    yield contrib("DecoderMaskedMultiHeadAttention", [f(b, 1, width), f(b, heads, 7, d), f(b, heads, 7, d, seed=1)], num_heads=heads)
    cosine, sine = f(16, d // 2, low=-1, high=1), f(16, d // 2, low=-1, high=1, seed=1)
    # ONNX Runtime makes nothing of these attributes.
    yield contrib("RotaryEmbedding", [f(b, s, width), i(b, s, high=16), cosine, sine], scale=0.5, is_packed_batching=1)
    for interleaved in (0, 1):
        yield contrib("RotaryEmbedding", [f(b, s, width), np.array([3], I), cosine, sine], interleaved=interleaved)
        yield contrib("RotaryEmbedding", [f(b, heads, s, d), i(b, s, high=16), cosine, sine], interleaved=interleaved)
        yield contrib("RotaryEmbedding", [f(b, s, width), i(b, s, high=16), f(16, 2), f(16, 2, seed=1)], num_heads=heads, rotary_embedding_dim=4,
                      interleaved=interleaved)


def grouped():
    heads, groups, d = 4, 2, 16
    cosine, sine = f(16, d // 2, low=-1, high=1), f(16, d // 2, low=-1, high=1, seed=1)
    # (rows, queries, keys in the cache, room in the cache)
    for b, s, p, room in [(2, 5, 0, 0), (2, 1, 6, 6), (1, 3, 4, 4), (2, 1, 6, 12), (1, 4, 0, 12)]:
        q, k, v = f(b, s, heads * d), f(b, s, groups * d, seed=1), f(b, s, groups * d, seed=2)
        cache = [f(b, groups, room, d, seed=n) for n in range(2)]
        total = p + s
        # Rows of different lengths where one query follows each.
        lengths = np.full((b,), total - 1, np.int32) - (np.arange(b, dtype=np.int32) if s == 1 else 0)
        counts = [lengths.astype(np.int32), Const(total, np.int32)]
        base = {"num_heads": heads, "kv_num_heads": groups}
        yield contrib("GroupQueryAttention", [q, k, v, *cache, *counts], 3, **base)
        yield contrib("GroupQueryAttention", [q, k, v, *cache, counts[0], np.array(total, np.int32)], 3, **base)
        yield contrib("GroupQueryAttention", [np.concatenate([q, k, v], 2), None, None, *cache, *counts], 3, **base)
        for interleaved in (0, 1):
            yield contrib("GroupQueryAttention", [q, k, v, *cache, *counts, cosine, sine], 3, do_rotary=1, rotary_interleaved=interleaved, **base)
        yield contrib("GroupQueryAttention", [q, k, v, *cache, *counts], 3, scale=0.5, softcap=2.0, **base)
        yield contrib("GroupQueryAttention", [q, k, v, *cache, *counts], 3, local_window_size=3, **base)
        yield contrib("GroupQueryAttention", [q, k, v, *cache, *counts], 3, smooth_softmax=1, **base)
        yield contrib("GroupQueryAttention", [q, k, v, *cache, *counts, None, None, None, f(b, 1, s, total)], 3, **base)
        yield contrib("GroupQueryAttention", [q, k, v, *cache, *counts], 3, causal=0, **base)
        # What lies behind a shorter row ONNX Runtime leaves as its memory was.
        full = [np.full((b,), total - 1, np.int32), counts[1]]
        for output in (1, 2):
            yield contrib("GroupQueryAttention", [q, k, v, *cache, *full], 4, qk_output=output, softcap=2.0, local_window_size=3, **base)
    # A prompt of rows that are filled up to one length.
    q, k, v = f(2, 4, heads * d), f(2, 4, groups * d, seed=1), f(2, 4, groups * d, seed=2)
    yield contrib("GroupQueryAttention", [q, k, v, None, None, np.array([3, 1], np.int32), Const(4, np.int32)], 1, num_heads=heads, kv_num_heads=groups, causal=0)


def quantised():
    x, scale, zero, to, at = bytes_of(2, 3, 6, 4), Const(0.02, F), Const(120, np.uint8), Const(0.03, F), Const(100, np.uint8)
    signed = bytes_of(2, 3, 6, 4, low=-100, high=100, dtype=np.int8)
    for values, source, target in [(x, zero, at), (signed, Const(3, np.int8), Const(-5, np.int8))]:
        yield contrib("QLinearSigmoid", [values, scale, source, Const(1 / 256, F), target], steps=1)
        yield contrib("QLinearLeakyRelu", [values, scale, source, to, target], steps=1, alpha=0.2)
        for axis, opset in [(-1, 13), (1, 13), (1, 11)]:
            yield contrib("QLinearSoftmax", [values, scale, source, Const(1 / 256, F), Const(0, values.dtype)], steps=1, axis=axis, opset=opset)
        for pads in ([0, 0, 0, 0], [1, 1, 1, 1]):
            yield contrib("QLinearAveragePool", [values, scale, source, to, target], steps=1, kernel_shape=[3, 3], strides=[2, 1], pads=pads)
        yield contrib("QLinearAveragePool", [values, scale, source, to, target], steps=1, kernel_shape=[2, 2], channels_last=1)
        for last in (0, 1):
            yield contrib("QLinearGlobalAveragePool", [values, scale, source, to, target], steps=1, channels_last=last)
        yield contrib("QLinearConcat", [to, target, values, scale, source, values, Const(0.05, F), source], steps=1, axis=1)
        yield contrib("QLinearWhere", [x > 100, values, scale, source, values, to, target, Const(0.04, F), target], steps=1)
        yield contrib("NhwcMaxPool", [values], kernel_shape=[2, 2], strides=[2, 2])
    a, weight, by_column = bytes_of(3, 8), Const(bytes_of(8, 5, low=-64, high=63, dtype=np.int8)), Const(f(5, low=0.01, high=0.03))
    for factor, zeros in [(Const(0.02, F), Const(3, np.int8)), (by_column, None), (by_column, Const(bytes_of(5, high=9, dtype=np.int8)))]:
        for bias in (None, Const(f(5))):
            yield contrib("MatMulIntegerToFloat", [a, weight, Const(0.01, F), factor, Const(7, np.uint8), zeros, bias])
            yield contrib("DynamicQuantizeMatMul", [f(2, 3, 8), weight, factor, zeros, bias])
    heads, width = 2, 8
    projection = Const(bytes_of(6, 3 * width, low=-64, high=63, dtype=np.int8))
    for mask in (None, np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32)):
        yield contrib("QAttention", [bytes_of(2, 4, 6), projection, Const(f(3 * width)), Const(0.02, F), Const(0.01, F), mask, Const(120, np.uint8),
                                     Const(0, np.int8)], num_heads=heads)


def broadcast():
    """Operands of which only the run tells that they fit."""
    x, scale, zero = bytes_of(2, 5, 8), "float t = {0.02}", "uint8 z = {120}"
    for op in ("QLinearAdd", "QLinearMul"):
        yield graph(op, [x, bytes_of(1, 5, 8)], f"g (uint8[B, S, 8] x, uint8[1, 5, 8] w) => (uint8 y) <{scale}, {zero}> {{ y = com.microsoft.{op}(x, t, z, w, t, z, t, z) }}")
    a, w, bias = bytes_of(3, 8), bytes_of(8, 5, low=-64, high=63, dtype=np.int8), f(5)
    steps = f(5, low=0.01, high=0.03)
    yield graph("MatMulIntegerToFloat", [a, w, steps, bias], f"""g (uint8[M, 8] a, int8[8, N] w, float[5] s, float[5] b) => (float y) <{scale}, {zero}>
        {{ y = com.microsoft.MatMulIntegerToFloat(a, w, t, s, z, , b) }}""")
    yield graph("DynamicQuantizeMatMul", [f(3, 8), w, steps, bias], """g (float[M, 8] a, int8[8, N] w, float[5] s, float[5] b) => (float y)
        { y = com.microsoft.DynamicQuantizeMatMul(a, w, s, , b) }""")
    for addend in (bytes_of(5, high=900, dtype=np.int32), bytes_of(3, 5, high=900, dtype=np.int32), bytes_of(3, 1, high=900, dtype=np.int32)):
        yield contrib("QGemm", [a, Const(0.02, F), Const(120, np.uint8), Const(w), Const(steps), Const(np.zeros(5, np.int8)), Const(addend)])
        yield graph("QGemm", [a, w, addend], f"""g (uint8[M, 8] a, int8[8, N] w, int32{list(addend.shape)} c) => (float y) <{scale}, {zero}, int8 n = {{0}}>
            {{ y = com.microsoft.QGemm(a, t, z, w, t, n, c) }}""")


def fused():
    """Chains as optimisers leave them."""
    yield graph("SkipNormAndGelu", [f(2, 3, 8), f(2, 3, 8, seed=1)], """g (float[B, S, 8] x, float[B, S, 8] y) => (float z)
        <float[8] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[8] b = {1, 0, 1, 0, 1, 0, 1, 0}>
        { n, m, v, s = com.microsoft.SkipLayerNormalization(x, y, w, b) g = com.microsoft.BiasGelu(n, b) z = Add(g, s) }""")


    # Sizes that only a run knows: a prompt, and tokens after it.
    for b, s, p in [(2, 5, 0), (2, 1, 5), (1, 3, 6)]:
        projections, past = [f(b, s, width, seed=n) for n, width in enumerate((64, 32, 32))], [f(b, 2, p, 16, seed=n) for n in range(2)]
        mask = np.ones((b, p + s), I)
        yield graph("GroupQueryAttentionOfAnySize", [*projections, *past, mask, f(32, 8), f(32, 8, seed=1)],
                    """g (float[B, S, 64] q, float[B, S, 32] k, float[B, S, 32] v, float[B, 2, P, 16] pk, float[B, 2, P, 16] pv, int64[B, T] mask,
                          float[32, 8] cos, float[32, 8] sin) => (float y, float nk, float nv)
            <int64[1] one = {1}, int64 at = {1}>
            { n = ReduceSum<keepdims: int = 0>(mask, one) m = Sub(n, at) last = Cast<to: int = 6>(m) sh = Shape(mask) t = Gather(sh, at) total = Cast<to: int = 6>(t)
              y, nk, nv = com.microsoft.GroupQueryAttention<num_heads: int = 4, kv_num_heads: int = 2, do_rotary: int = 1>(q, k, v, pk, pv, last, total, cos, sin) }""")
        yield graph("MultiHeadAttentionOfAnySize", [f(b, s, 32), f(b, s, 32, seed=1), f(b, s, 32, seed=2), np.ones((b, p + s), np.int32), *[f(b, 4, p, 8, seed=n) for n in range(2)]],
                    """g (float[B, S, 32] q, float[B, S, 32] k, float[B, S, 32] v, int32[B, T] mask, float[B, 4, P, 8] pk, float[B, 4, P, 8] pv) => (float y, float nk, float nv)
            { y, nk, nv = com.microsoft.MultiHeadAttention<num_heads: int = 4, unidirectional: int = 1>(q, k, v, , mask, , pk, pv) }""")
        yield graph("AttentionOfAnySize", [f(b, s, 12), f(12, 96), f(96), np.ones((b, s), np.int32)],
                    """g (float[B, S, 12] x, float[12, 96] w, float[96] c, int32[B, S] mask) => (float y) { y = com.microsoft.Attention<num_heads: int = 4>(x, w, c, mask) }""")
    for n, m in [(3, 3), (1, 1)]:
        yield graph("SkipNormOfAnySize", [f(2, n, 8), f(1, m, 8), f(8), f(8, seed=1)],
                    """g (float[B, N, 8] x, float[1, M, 8] y, float[8] w, float[8] b) => (float z, float s)
            { z, a, c, s = com.microsoft.SkipLayerNormalization(x, y, w, b) }""")
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[2, 8] x) => (float y) { y = com.microsoft.FastGelu(x) }')
    # As some optimisers leave it.
    del model.opset_import[1]
    yield Case("FastGelu", [f(2, 8)], model)


def cases():
    for family in (norms, for_gpus, products, products_of_bytes, attention, grouped, quantised, broadcast, fused):
        yield from family()
