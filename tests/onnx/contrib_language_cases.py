"""Operators of com.microsoft as builders of language models write them: gates, recurrent attention, weights in 4 bits."""

import dataclasses

import numpy as np
from case import F, Const, contrib, f, graph, i
from contrib_cases import bytes_of, half


FLOAT4 = [sign * value for sign in (1, -1) for value in (0, 0.00520833333, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4)]
NORMAL_FLOAT4 = [-1, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0, 0.0795803, 0.1609302, 0.2461123, 0.3379152, 0.4407098, 0.5626170,
                 0.7229568, 1]


def gates():
    for convert in (lambda x: x, half):
        x, gate, scale = convert(f(2, 3, 16)), convert(f(2, 3, 16, seed=1)), convert(f(8, low=0.5, high=1.5))
        for activation in ("silu", "swish", "sigmoid"):
            yield contrib("GatedRMSNorm", [x, scale, gate], activation=activation, epsilon=1e-6)
        yield contrib("GatedRMSNorm", [x, convert(f(16)), gate])
        yield contrib("GatedAdd", [x, gate, convert(f(2, 3, 1))])
        grouped = convert(f(2, 3, 4, 8))
        for scale in (None, f(8), f(4, 8), f(32)):
            yield contrib("BranchwiseRMSNorm", [grouped, scale], epsilon=1e-6)
            yield contrib("BranchwiseRMSNorm", [convert(f(2, 3, 32)), scale], num_branches=4)
        yield contrib("ScaledSiLU", [x], alpha=1.702)
        yield contrib("ScaledSiLU", [x, np.array(0.5, F)])
        for mix in (f(2, 3, 4), f(2, 3, 4, 1), f(2, 3, 4, 8)):
            yield contrib("HyperConnectionPreMix", [grouped, mix], reduction_scale=0.25)
            yield contrib("HyperConnectionPostMix", [grouped, convert(f(2, 3, 8)), mix])
            yield contrib("HyperConnectionPostMix", [grouped, convert(f(2, 3, 8)), mix, f(2, 3, 4, 4)])
        yield contrib("HyperConnectionPreMix", [convert(f(2, 3, 32)), f(2, 3, 32)], num_branches=4)
        yield contrib("HyperConnectionPostMix", [convert(f(2, 3, 32)), convert(f(2, 3, 8)), f(2, 3, 4)], num_branches=4)
        engram = [convert(f(*shape, seed=n)) for n, shape in enumerate([(2, 3, 4, 8), (2, 3, 4, 8), (2, 3, 8), (4, 8), (4, 8), (4, 8)])]
        yield contrib("EngramGate", engram[:5], epsilon=1e-6)
        yield contrib("EngramGate", engram, 2)
        yield contrib("LinearAttentionGate", [convert(f(2, 3, 4)), f(4), f(4, low=-2, high=-0.1), convert(f(2, 3, 4, seed=1))], 2)
        yield contrib("LinearAttentionGate", [convert(f(2, 3, 4)), f(4), f(4, low=-2, high=-0.1)])


def recurrent_attention():
    for t in (1, 5):
        # (heads of queries, of keys)
        for asking, heads in [(2, 2), (4, 2), (2, 4)]:
            q, k, v = f(2, t, asking * 8), f(2, t, heads * 8, low=-0.5, high=0.5), f(2, t, heads * 6, seed=1)
            state, decay, beta = f(2, heads, 8, 6), f(2, t, heads, low=-1, high=-0.1), f(2, t, heads, low=0.1, high=0.9)
            by_key = f(2, t, heads * 8, low=-1, high=-0.1)
            base = {"q_num_heads": asking, "kv_num_heads": heads}
            yield contrib("LinearAttention", [q, k, v], 2, update_rule="linear", **base)
            yield contrib("LinearAttention", [q, k, v, state, decay], 2, update_rule="gated", **base)
            yield contrib("LinearAttention", [q, k, v, state, by_key], 2, update_rule="gated", scale=0.5, **base)
            yield contrib("LinearAttention", [q, k, v, state, None, beta], 2, update_rule="delta", **base)
            yield contrib("LinearAttention", [q, k, v, state, decay, beta], 2, **base)
            yield contrib("LinearAttention", [q, k, v, None, by_key, f(2, t, 1, low=0.1, high=0.9)], 2, **base)
        yield graph("LinearAttentionOfAnyLength", [f(2, t, 16), f(2, t, 16, low=-0.5, high=0.5), f(2, t, 12), f(2, 2, 8, 6), f(2, t, 2, low=-1, high=-0.1), f(2, t, 2, low=0.1, high=0.9)],
                    """g (float[B, T, 16] q, float[B, T, 16] k, float[B, T, 12] v, float[B, 2, 8, 6] s, float[B, T, 2] d, float[B, T, 2] b) => (float y, float n)
            { y, n = com.microsoft.LinearAttention<q_num_heads: int = 2, kv_num_heads: int = 2>(q, k, v, s, d, b) }""")
    for dilation in (1, 2):
        x, weight, bias = f(2, 6, 7), Const(f(6, 1, 4)), Const(f(6))
        past = f(2, 6, 3 * dilation)
        for activation in ("none", "silu"):
            yield contrib("CausalConvWithState", [x, weight, bias, past], 2, activation=activation, dilation=dilation)
        yield contrib("CausalConvWithState", [x, weight], 2, dilation=dilation)
        yield contrib("CausalConvWithState", [f(2, 1, 6), weight, bias, f(2, 3 * dilation, 6)], 2, channels_last=1, dilation=dilation)
        yield contrib("CausalConvWithState", [f(2, 7, 2, 3), weight, bias, f(2, 3 * dilation, 2, 3)], 2, channels_last=1, dilation=dilation)
    yield graph("CausalConvOfAnyLength", [f(2, 6, 5), f(2, 6, 3)], """g (float[B, 6, L] x, float[B, 6, 3] p) => (float y, float n)
        <float[6, 1, 4] w = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}>
        { y, n = com.microsoft.CausalConvWithState<activation: string = "silu">(x, w, , p) }""")


def weights_and_positions():
    for quantised in (0, 1):
        for k, n, block in [(64, 6, 32), (40, 3, 16), (33, 5, 16)]:
            weight, scales = Const(bytes_of((k * n + 1) // 2)), Const(f(-(-k * n // block), low=0.01, high=0.1))
            yield contrib("MatMulBnb4", [f(2, 3, k), weight, scales], K=k, N=n, block_size=block, quant_type=quantised)
        # By definition, of which ONNX Runtime computes something else.
        k, n, block, codes = 33, 5, 16, np.array(FLOAT4 if quantised == 0 else NORMAL_FLOAT4)
        numbers = np.stack([weight.value >> 4, weight.value & 15], 1).ravel()[: k * n]
        values = (codes[numbers] * np.repeat(scales.value, block)[: k * n]).reshape(n, k)
        one = contrib("MatMulBnb4", [f(3, n), weight, scales], K=k, N=n, block_size=block, quant_type=quantised, transB=0)
        yield dataclasses.replace(one, expected=[(f(3, n) @ values).astype(F)])
    heads, d = 4, 12
    cosine, sine, positions = f(16, d // 2, low=-1, high=1), f(16, d // 2, low=-1, high=1, seed=1), i(3, 2, 5, high=16)
    for sections in ([2, 2, 2], [4, 1, 1], [6, 0, 0]):
        for layout in (0, 1):
            for interleaved in (0, 1):
                yield contrib("MRotaryEmbedding", [f(2, heads, 5, d), positions, cosine, sine], mrope_section=sections, mrope_layout=layout, interleaved=interleaved)
            yield contrib("MRotaryEmbedding", [f(2, 5, heads * d), positions, cosine, sine], mrope_section=sections, mrope_layout=layout, num_heads=heads)
    yield contrib("MRotaryEmbedding", [f(2, 5, heads * d), positions, f(16, 3), f(16, 3, seed=1)], mrope_section=[1, 1, 1], num_heads=heads, rotary_embedding_dim=6)
    yield contrib("MRotaryEmbedding", [half(f(2, 5, heads * d)), positions, half(cosine), half(sine)], mrope_section=[2, 2, 2], num_heads=heads)


def experts():
    count, wide, inner = 4, 32, 16
    router, bias, first, second = f(5, count, seed=3), f(count, wide), Const(f(count, inner, wide, seed=1)), Const(f(count, wide, inner, seed=2))
    for x in (f(5, wide), f(1, 5, wide)):
        for k, normalise in [(1, 0), (2, 0), (2, 1)]:
            for activation in ("relu", "gelu", "silu", "identity"):
                yield contrib("MoE", [x, router, first, Const(f(count, inner)), second, Const(bias)], k=k, normalize_routing_weights=normalise, activation_type=activation)
    # One token; more than one of most experts; none of the last, whose weights are no numbers.
    far, no_numbers = f(17, 8, seed=3), f(8, inner, wide, seed=1)
    far[:, 7], no_numbers[7] = -100, np.nan
    for tokens in (1, 17):
        for weights in (Const(no_numbers), no_numbers):
            yield contrib("MoE", [f(tokens, wide), far[:tokens], weights, None, Const(f(8, wide, inner, seed=2))], k=3, activation_type="silu")
    both = Const(f(count, 2 * inner, wide, seed=1))
    for limits in ({}, {"activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 1.0}):
        swiglu = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "normalize_routing_weights": 1, **limits}
        yield contrib("MoE", [f(5, wide), router, both, Const(f(count, 2 * inner)), second, Const(bias)], **swiglu)
        for bits in (4, 8):
            weights = [Const(bytes_of(count, rows, columns * bits // 8)) for rows, columns in [(2 * inner, wide), (wide, inner)]]
            scales = [Const(f(count, 2 * inner, low=0.01, high=0.02)), Const(f(count, wide, low=0.01, high=0.02))]
            yield contrib("QMoE", [f(5, wide), router, weights[0], scales[0], None, weights[1], scales[1]], expert_weight_bits=bits, **swiglu)
            scales = [Const(f(count, 2 * inner, wide // 16, low=0.01, high=0.02)), Const(f(count, wide, inner // 16, low=0.01, high=0.02))]
            # Bytes in blocks ONNX Runtime multiplies by inputs that it rounds to bytes.
            if bits == 4:
                yield contrib("QMoE", [f(5, wide), router, weights[0], scales[0], Const(f(count, 2 * inner)), weights[1], scales[1], Const(bias)], expert_weight_bits=bits,
                              block_size=16, **swiglu)


def cases():
    for family in (gates, recurrent_attention, weights_and_positions, experts):
        yield from family()
