"""Operators of com.microsoft on inputs of which each dimension is a symbol of its own."""

import copy
import dataclasses

import contrib_cases
import contrib_language_cases
import contrib_optimised_cases
import nchwc_cases
import numpy as np
from case import F, Const, graph

# Of these operators, every so many of their cases.
EVERY = {"Attention": 3, "MultiHeadAttention": 4, "DecoderMaskedMultiHeadAttention": 3, "GroupQueryAttention": 11, "GatherBlockQuantized": 3, "LinearAttention": 5,
         "MRotaryEmbedding": 7, "MoE": 7, "QMoE": 3, "GatedRMSNorm": 3, "FusedMatMul": 1, "MatMulNBits": 3, "QLinearWhere": 1, "BiasSplitGelu": 1,
         "BranchwiseRMSNorm": 3, "FusedConv": 1, "RotaryEmbedding": 1, "HyperConnectionPreMix": 2, "HyperConnectionPostMix": 3,
         "BiasSoftmax": 3, "PackedAttention": 4, "PackedMultiHeadAttention": 5, "RemovePadding": 3, "RestorePadding": 3, "NhwcConv": 3,
         "NhwcFusedConv": 4, "ComplexMul": 2, "Rfft": 4, "Irfft": 4, "DecoderMaskedSelfAttention": 3, "NGramRepeatBlock": 2, "MulInteger": 2, "FusedMatMulActivation": 4,
         "SparseAttention": 6}


def converted(value, dtype):
    """Floats of single precision as others."""
    if isinstance(value, Const):
        return Const(converted(value.value, dtype))
    return value.astype(dtype) if value is not None and value.dtype == F else value


def has_lengths(one):
    """Whether its mask has one axis, whose symbolic length does not say what it holds."""
    at = {"Attention": 3, "MultiHeadAttention": 4}.get(one.op)
    return at is not None and at < len(one.inputs) and one.inputs[at] is not None and one.inputs[at].ndim == 1


def products():
    """Of integers, of batches of which one has a single matrix."""
    u8 = np.uint8
    a, b = contrib_cases.bytes_of(3, 2, 5, 4), contrib_cases.bytes_of(3, 1, 4, 6)
    zero = np.array(120, u8)
    yield graph("MatMulIntegerOfAnySize", [a, b, zero, zero], "g (uint8[A, B, M, K] a, uint8[C, D, L, N] b, uint8 z, uint8 w) => (int32 y) { y = MatMulInteger(a, b, z, w) }")
    scales = [np.array(0.5, F), np.array(0.25, F)]
    yield graph("MatMulIntegerToFloatOfAnySize", [a, b, *scales], """g (uint8[A, B, M, K] a, uint8[C, D, L, N] b, float s, float t) => (float y)
                { y = com.microsoft.MatMulIntegerToFloat(a, b, s, t) }""")
    yield graph("QLinearMatMulOfAnySize", [a, b, *scales, zero], """g (uint8[A, B, M, K] a, uint8[C, D, L, N] b, float s, float t, uint8 z) => (uint8 y)
                { y = QLinearMatMul(a, s, z, b, t, z, t, z) }""")


def lengths():
    """Of kernels and of indices, that the run tells."""
    x, weight = contrib_cases.f(2, 4, 7, 9), contrib_cases.f(6, 2, 3, 2)
    for pads in ('auto_pad: string = "SAME_UPPER", strides: ints = [2, 1]', 'auto_pad: string = "SAME_LOWER"', "pads: ints = [1, 0, 2, 1]"):
        yield graph("ConvOfAnyKernel", [x, weight], f"""g (float[N, 4, H, W] x, float[O, 2, KH, KW] w) => (float y) {{ y = Conv<group: int = 2, {pads}>(x, w) }}""")
    data = contrib_cases.f(3, 4, 5)
    for length in (1, 2, 3):
        at = contrib_cases.i(2, 6, length, high=3)
        yield graph("GatherNDOfAnyIndex", [data, at], "g (float[A, B, C] x, int64[M, N, L] i) => (float y) { y = GatherND(x, i) }")
        updates = contrib_cases.f(2, 6, *data.shape[length:])
        sizes = "DEF"[: updates.ndim - 2]
        yield graph("ScatterNDOfAnyIndex", [data, at, updates], f"""g (float[A, B, C] x, int64[M, N, L] i, float[M, N{"".join(", " + size for size in sizes)}] u) => (float y)
                    {{ y = ScatterND<reduction: string = "add">(x, i, u) }}""")
    # x[:, 1::2] = u, as exporters write it.
    data, updates = contrib_cases.f(3, 7, 5), contrib_cases.f(3, 3, 5)
    for end, rows in (("n", 3), ("two", 1)):
        yield graph("SliceAssignment", [data, updates[:, :rows]], f"""g (float[A, B, C] x, float[A, R, C] u) => (float y)
                    <int64 zero = {{0}}, int64 one = {{1}}, int64[1] ones = {{1}}, int64[1] two = {{2}}, int64[1] last = {{-1}}>
                    {{ s = Shape(x) m = Gather(s, zero) k = Gather(s, one) n = Unsqueeze(k, zeros)
                      rows = Range(zero, m, one) all = Range(zero, k, one) columns = Slice(all, ones, {end}, zeros, two)
                      column = Unsqueeze(columns, zeros) row = Unsqueeze(rows, ones) size = Shape(u) both = Slice(size, zeros, two, zeros)
                      r0 = Expand(row, both) c0 = Expand(column, both) r = Unsqueeze(r0, last) c = Unsqueeze(c0, last)
                      i = Concat<axis: int = -1>(r, c) y = ScatterND(x, i, u) }}""".replace("<int64 zero", "<int64[1] zeros = {0}, int64 zero"))
    at = contrib_cases.i(3, 2, 1, high=3)
    yield graph("GatherNDOfAnyIndexInBatches", [data, at], "g (float[A, B, C] x, int64[A, N, L] i) => (float y) { y = GatherND<batch_dims: int = 1>(x, i) }")


def opened(model):
    """The model, each dimension of its inputs a symbol of its own."""
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.ClearField("type")
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = f"{value.name}_{axis}"
    return model


def cases(build):
    """`build` gives the model of a case, and its inputs."""
    seen = dict.fromkeys(EVERY, 0)
    for one in (*contrib_cases.attention(), *contrib_cases.grouped(), *contrib_cases.products(), *contrib_cases.products_of_bytes(), *contrib_cases.for_gpus(), *contrib_cases.quantised(),
                *contrib_language_cases.cases(), *contrib_optimised_cases.cases()):
        if one.op not in EVERY or not isinstance(one.opset, int) or not all(v is None or isinstance(v, Const) or v.dtype != np.float16 for v in one.inputs):
            continue
        seen[one.op] += 1
        if seen[one.op] % EVERY[one.op] and not has_lengths(one):
            continue
        halves = (F, np.float16) if one.op == "GroupQueryAttention" else (F,)
        for dtype in halves:
            model, feed = build(dataclasses.replace(one, inputs=[converted(value, dtype) for value in one.inputs]))
            yield dataclasses.replace(one, inputs=list(feed.values()), opset=opened(model), tolerance=1e-4 if dtype == F else 5e-3)
    yield from products()
    yield from lengths()
    for one in nchwc_cases.cases():
        yield dataclasses.replace(one, opset=opened(copy.deepcopy(one.opset)))
