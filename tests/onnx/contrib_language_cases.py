"""Operators of com.microsoft as builders of language models write them: gates, recurrent attention, weights in 4 bits."""

import dataclasses

import numpy as np
import onnx
import onnxruntime
from case import F, Const, contrib, f, graph, i
from contrib_cases import bytes_of, half
from onnx import helper

N = np.int32


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


def in_place(one, shared):
    """With what ONNX Runtime computes where outputs are written over inputs, as its kernel asks for: {output: input}."""
    names = [f"x{n}" for n, value in enumerate(one.inputs)]
    values = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in zip(names, one.inputs) if value is not None]
    outputs = [f"y{n}" for n in range(one.outputs)]
    node = helper.make_node(one.op, [name if value is not None else "" for name, value in zip(names, one.inputs)], outputs, domain=one.domain, **one.attributes)
    model = helper.make_model(helper.make_graph([node], "g", values, [onnx.ValueInfoProto(name=name) for name in outputs]), ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(one.domain, 1)])
    session = onnxruntime.InferenceSession(model.SerializeToString())
    binding, given = session.io_binding(), {}
    # Which are not copied.
    arrays = [None if value is None else value.copy() for value in one.inputs]
    for name, value in zip(names, arrays):
        if value is not None:
            given[name] = onnxruntime.OrtValue.ortvalue_from_numpy(value)
            binding.bind_ortvalue_input(name, given[name])
    for n, name in enumerate(outputs):
        if n in shared:
            binding.bind_ortvalue_output(name, given[f"x{shared[n]}"])
        else:
            binding.bind_output(name)
    session.run_with_iobinding(binding)
    return dataclasses.replace(one, expected=[value.numpy().copy() for value in binding.get_outputs()])


def by_blocks(q, k, v, keys, values, rows, columns, total, each, groups, scale):
    """The outputs of SparseAttention with blocks of 16."""
    b, s, d = q.shape[0], q.shape[1], keys.shape[3]
    q, k, v = (x.reshape(b, s, -1, d).transpose(0, 2, 1, 3) for x in (q, k, v))
    keys, values, y = keys.copy(), values.copy(), np.zeros_like(q)
    for row, head in np.ndindex(b, q.shape[1]):
        layout, group, past = head % len(rows), head * groups // q.shape[1], max(each[row] - s, 0)
        keys[row, :, past : past + s], values[row, :, past : past + s] = k[row], v[row]
        for t in range(s):
            block = (past + t) // 16
            seen = np.isin(np.arange(past + t + 1) // 16, columns[layout, rows[layout, block] : rows[layout, block + 1]])
            scores = np.where(seen, keys[row, group, : past + t + 1] @ q[row, head, t] * scale, -np.inf)
            weights = np.exp(scores - scores.max())
            y[row, head, t] = weights / weights.sum() @ values[row, group, : past + t + 1]
    return [y.transpose(0, 2, 1, 3).reshape(b, s, -1), keys, values]


def blocks():
    """Attention whose queries see some blocks of keys."""
    heads, groups, d, room = 4, 2, 16, 64
    rows, columns = np.array([[0, 1, 3, 5, 8], [0, 1, 3, 6, 9]], N), np.array([[0, 0, 1, 1, 2, 1, 2, 3, -1], [0, 0, 1, 0, 1, 2, 0, 2, 3]], N)
    cosine, sine = f(64, d // 2, low=-1, high=1), f(64, d // 2, low=-1, high=1, seed=1)
    for layouts in (1, 2):
        layout = [rows[:layouts], columns[:layouts]]
        for b, s, before in [(1, 20, 0), (2, 33, 0), (1, 1, 40), (2, 1, 50)]:
            q, k, v = f(b, s, heads * d), f(b, s, groups * d, seed=1), f(b, s, groups * d, seed=2)
            past = [f(b, groups, room, d, seed=n) for n in range(2)]
            total = before + s
            # Rows of a batch have different numbers of keys.
            each = np.array([total, total - 1][:b], N)
            base = {"num_heads": heads, "kv_num_heads": groups, "sparse_block_size": 16}
            counts = [np.array(total, N), each]
            one = contrib("SparseAttention", [q, k, v, *past, *layout, *counts], 3, scale=0.3, **base)
            if b > 1:
                # Of rows behind the first ONNX Runtime computes something else: by definition.
                yield dataclasses.replace(one, expected=by_blocks(*one.inputs, groups, 0.3))
                continue
            yield in_place(one, {1: 3, 2: 4})
            packed = np.concatenate([q, k, v], axis=2)
            for interleaved in (0, 1):
                yield in_place(contrib("SparseAttention", [packed, None, None, *past, *layout, *counts, cosine, sine], 3, do_rotary=1, rotary_interleaved=interleaved, **base), {1: 3, 2: 4})


def sequences():
    """Convolutions of sequences one after the other, by their definition."""
    channels, kernel = 4, 3
    for lengths in ([5, 1, 3], [2]):
        for dilation in (1, 2):
            tokens, past = sum(lengths), (kernel - 1) * dilation
            sums = np.cumsum([0, *lengths]).astype(N)
            x, w, bias, state = f(tokens, channels), f(channels, 1, kernel), f(channels), f(len(lengths), channels, past)
            y, last = np.zeros_like(x), np.zeros_like(state)
            for row, (begin, end) in enumerate(zip(sums, sums[1:])):
                line = np.concatenate([state[row].T, x[begin:end]])
                for t in range(end - begin):
                    y[begin + t] = sum(line[past + t - (kernel - 1 - j) * dilation] * w[:, 0, j] for j in range(kernel))
                last[row] = line[len(line) - past :].T
            silu = lambda a: a / (1 + np.exp(-a))  # noqa: E731
            yield dataclasses.replace(contrib("VarlenCausalConvWithState", [x, w, sums, None, state], 2, dilation=dilation), expected=[y, last])
            for convert in (lambda a: a, half):
                one = contrib("VarlenCausalConvWithState", [convert(x), convert(w), sums, convert(bias), convert(state)], 2, dilation=dilation, activation="silu")
                yield dataclasses.replace(one, expected=[convert(silu(y + bias)), convert(last)])
            asked, capacity = np.array([9, 1, 0][: len(lengths)], N), 3
            kept = np.zeros((len(lengths), capacity, channels), F)
            for row in range(len(lengths)):
                count = min(asked[row], capacity, lengths[row])
                kept[row, :count] = x[sums[row] : sums[row] + count]
            yield dataclasses.replace(contrib("VarlenCausalConvWithState", [x, w, sums, None, state, asked], 3, dilation=dilation, state_update_capacity=capacity), expected=[y, last, kept])


def delta_nets():
    """Memories of sequences one after the other, by their definition."""
    d, e = 4, 3
    for lengths, ragged in [([5, 1, 3], True), ([4, 4], False), ([2], True), ([0, 3], True)]:
        tokens, b, sums = sum(lengths), len(lengths), np.cumsum([0, *lengths])
        for keys, values in [(2, 2), (1, 3), (2, 4)]:
            q, k, v = f(tokens, keys, d), f(tokens, keys, d, low=-0.5, high=0.5, seed=1), f(tokens, values, e, seed=2)
            by_head, by_key = f(tokens, values, low=-1, high=-0.1), f(tokens, values, d, low=-1, high=-0.1)
            beta, state, log, shift = f(tokens, values, low=0.1, high=0.9), f(b, values, e, d), f(values), f(values, seed=1)

            def expected(rule, decay, beta, q=q, k=k, scale=d**-0.5):
                y, last = np.zeros((tokens, values, e), F), state.astype(np.float64)
                for row in range(b):
                    for t in range(sums[row], sums[row + 1]):
                        for head in range(values):
                            memory, key = last[row, head], k[t, head * keys // values]
                            if "gated" in rule:
                                memory = memory * np.exp(decay[t, head])
                            change = v[t, head] - memory @ key if "delta" in rule else v[t, head]
                            memory = memory + np.outer((beta[t, head] if "delta" in rule else 1) * change, key)
                            last[row, head], y[t, head] = memory, scale * memory @ q[t, head * keys // values]
                return [y, last.astype(F)]

            lines = sums.astype(N) if ragged else None
            for rule, decay in [("linear", None), ("gated", by_head), ("gated", by_key), ("delta", None), ("gated_delta", by_head)]:
                inputs = [q, k, v, lines, decay, beta if "delta" in rule else None, state]
                yield dataclasses.replace(contrib("GatedDeltaNet", inputs, 2, update_rule=rule), expected=expected(rule, decay, beta))
            sigmoid = lambda a: 1 / (1 + np.exp(-a))  # noqa: E731
            one = lambda a: a / np.sqrt((a * a).sum(-1, keepdims=True) + 1e-6)  # noqa: E731
            gate = -np.exp(log) * np.log1p(np.exp(by_head + shift))
            fused = {"gate_activation": "qwen", "beta_activation": "sigmoid", "qk_l2_norm": 1, "scale": 0.7}
            results = expected("gated_delta", gate, sigmoid(beta), one(q), one(k), 0.7)
            yield dataclasses.replace(contrib("GatedDeltaNet", [q, k, v, lines, by_head, beta, state, log, shift], 2, **fused), expected=results)
            packed = np.concatenate([x.reshape(tokens, -1) for x in (q, k, v)], axis=1)
            yield dataclasses.replace(contrib("GatedDeltaNet", [packed, None, None, lines, by_head, beta, state, log, shift], 2, **fused), expected=results)
            if not ragged:
                whole = [x.reshape(b, lengths[0], *x.shape[1:]) for x in (q, k, v)]
                inputs = [*whole, None, by_head.reshape(b, lengths[0], -1), beta.reshape(b, lengths[0], -1), state]
                y, last = expected("gated_delta", by_head, beta)
                yield dataclasses.replace(contrib("GatedDeltaNet", inputs, 2), expected=[y.reshape(b, lengths[0], values, e), last])
                halves = [half(x) if n < 3 else x for n, x in enumerate(inputs)]
                yield dataclasses.replace(contrib("GatedDeltaNet", halves, 2), expected=[half(y).reshape(b, lengths[0], values, e), last])


def alignments():
    for rows, columns in [(1, 1), (4, 4), (7, 3), (1, 5), (6, 1), (12, 20)]:
        costs = f(rows, columns, low=0)
        yield contrib("DynamicTimeWarping", [costs])
        yield contrib("DynamicTimeWarping", [costs[None]])
    # Of equal costs.
    yield contrib("DynamicTimeWarping", [np.ones((5, 4), F)])


def cases():
    for family in (gates, recurrent_attention, weights_and_positions, experts, blocks, sequences, delta_nets, alignments):
        yield from family()
