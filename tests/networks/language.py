"""Transformers and recurrent networks, written out in primitive operators as exporters do."""

import math

import numpy as np
from onnx import TensorProto

from builder import Builder


def _layer_norm(b, x, width, epsilon=1e-5):
    centred = b.op("Sub", x, b.op("ReduceMean", x, axes=[-1], keepdims=1))
    variance = b.op("ReduceMean", b.op("Pow", centred, b.scalar(2.0)), axes=[-1], keepdims=1)
    normal = b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, b.scalar(epsilon))))
    return b.op("Add", b.op("Mul", normal, b.normal(width, scale=0.1, mean=1.0)), b.normal(width, scale=0.1))


def _gelu(b, x):
    error = b.op("Erf", b.op("Div", x, b.scalar(math.sqrt(2.0))))
    return b.op("Mul", b.op("Mul", x, b.op("Add", error, b.scalar(1.0))), b.scalar(0.5))


def _attention(b, x, width, heads, split, merge, mask=None):
    """`split` and `merge` reshape (batch, sequence, width) to (batch, sequence, heads, width / heads) and back."""

    def project(perm):
        return b.op("Transpose", split(b.linear(x, width, width)), perm=perm)

    q, k, v = project([0, 2, 1, 3]), project([0, 2, 3, 1]), project([0, 2, 1, 3])
    scores = b.op("Div", b.op("MatMul", q, k), b.scalar(math.sqrt(width // heads)))
    if mask is not None:
        scores = b.op("Add", scores, mask)
    context = b.op("MatMul", b.op("Softmax", scores, axis=-1), v)
    return b.linear(merge(b.op("Transpose", context, perm=[0, 2, 1, 3])), width, width)


def bert(batch=1, small=False, seed=0, layers=None):
    b = Builder(seed, opset=13)
    width, heads, inner, vocabulary, sequence = (32, 4, 64, 100, 16) if small else (768, 12, 3072, 30522, 128)
    layers = layers or (2 if small else 12)
    ids = b.input("input_ids", [batch, sequence], TensorProto.INT64)
    attention = b.input("attention_mask", [batch, sequence], TensorProto.INT64)
    x = b.op("Gather", b.normal(vocabulary, width), ids, axis=0)
    x = b.op("Add", x, b.normal(1, sequence, width))
    x = _layer_norm(b, x, width)
    mask = b.op("Unsqueeze", attention, b.ints(1, 2))
    mask = b.op("Sub", b.scalar(1.0), b.op("Cast", mask, to=TensorProto.FLOAT))
    mask = b.op("Mul", mask, b.scalar(-10000.0))
    split_shape = b.ints(0, 0, heads, width // heads)
    merge_shape = b.ints(0, 0, width)
    for layer in range(layers):
        b.scope = [f"layer{layer}", "attention"]
        y = _attention(b, x, width, heads, lambda t: b.op("Reshape", t, split_shape),
                       lambda t: b.op("Reshape", t, merge_shape), mask)
        x = _layer_norm(b, b.op("Add", x, y), width)
        b.scope = [f"layer{layer}", "mlp"]
        y = b.linear(_gelu(b, b.linear(x, width, inner)), inner, width)
        x = _layer_norm(b, b.op("Add", x, y), width)
    b.scope = ["pooler"]
    first = b.op("Gather", x, b.constant(np.array(0, np.int64)), axis=1)
    pooled = b.op("Tanh", b.linear(first, width, width))
    b.output(x, "last_hidden_state", [batch, sequence, width])
    b.output(pooled, "pooler_output", [batch, width])
    return b.model("bert")


def vit(batch=1, small=False, seed=0):
    """A vision transformer (ViT-B/16): patches by a convolution, a class token, encoder layers that normalise first."""
    b = Builder(seed, opset=17)
    width, heads, inner, layers, image, patch, classes = (32, 4, 64, 2, 32, 8, 10) if small else (768, 12, 3072, 12, 224, 16, 1000)
    tokens = (image // patch) ** 2

    def norm(x):
        scale, shift = b.normal(width, scale=0.1, mean=1.0), b.normal(width, scale=0.1)
        return b.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-6)

    x = b.input("x", [batch, 3, image, image])
    x = b.op("Conv", x, b.weight(width, 3, patch, patch, fan_in=3 * patch * patch), b.normal(width, scale=0.1),
             kernel_shape=[patch, patch], strides=[patch, patch])
    x = b.op("Transpose", b.op("Reshape", x, b.ints(0, width, tokens)), perm=[0, 2, 1])
    token = b.op("Expand", b.normal(1, 1, width), b.ints(batch, 1, width)) if isinstance(batch, int) else None
    if token is None:
        # The class token in as many copies as the batch has images: a row of zeros of the right shape, plus the token.
        row = b.op("Slice", x, b.ints(0), b.ints(1), b.ints(1))
        token = b.op("Add", b.op("Mul", row, b.scalar(0.0)), b.normal(1, 1, width))
    x = b.op("Add", b.op("Concat", token, x, axis=1), b.normal(1, tokens + 1, width, scale=0.1))
    split, merge = b.ints(0, 0, heads, width // heads), b.ints(0, 0, width)
    for layer in range(layers):
        b.scope = [f"layer{layer}", "attention"]
        y = _attention(b, norm(x), width, heads, lambda t: b.op("Reshape", t, split), lambda t: b.op("Reshape", t, merge))
        x = b.op("Add", x, y)
        b.scope = [f"layer{layer}", "mlp"]
        x = b.op("Add", x, b.linear(_gelu(b, b.linear(norm(x), width, inner)), inner, width))
    b.scope = ["head"]
    first = b.op("Gather", norm(x), b.constant(np.array(0, np.int64)), axis=1)
    b.output(b.linear(first, width, classes), "y", [batch, classes])
    return b.model("vit")


def _rms_norm(b, x, width):
    mean = b.op("ReduceMean", b.op("Mul", x, x), axes=[-1], keepdims=1)
    scale = b.op("Div", b.scalar(1.0), b.op("Sqrt", b.op("Add", mean, b.scalar(1e-6))))
    return b.op("Mul", b.op("Mul", x, scale), b.normal(width, scale=0.1, mean=1.0))


def _rotate(b, x, cosine, sine, size):
    first = b.op("Slice", x, b.ints(0), b.ints(size // 2), b.ints(3))
    second = b.op("Slice", x, b.ints(size // 2), b.ints(np.iinfo(np.int64).max), b.ints(3))
    turned = b.op("Concat", b.op("Neg", second), first, axis=3)
    return b.op("Add", b.op("Mul", x, cosine), b.op("Mul", turned, sine))


def decoder(batch=1, small=False, seed=0):
    """A block of a language model: RMSNorm, rotary embedding, causal attention, SwiGLU."""
    b = Builder(seed, opset=13)
    width, heads, inner, sequence, layers = (32, 4, 48, 12, 1) if small else (512, 8, 1376, 128, 2)
    size = width // heads
    x = b.input("x", [batch, sequence, width])
    angles = np.outer(np.arange(sequence), 10000.0 ** (-np.arange(0, size, 2) / size)).astype(np.float32)
    angles = np.concatenate([angles, angles], axis=1)
    cosine, sine = b.constant(np.cos(angles), "cos"), b.constant(np.sin(angles), "sin")
    causal = b.constant(np.triu(np.full((1, 1, sequence, sequence), np.float32(-1e9)), 1), "causal")
    split, merge = b.ints(0, 0, heads, size), b.ints(0, 0, width)
    for layer in range(layers):
        b.scope = [f"layer{layer}", "attention"]
        normal = _rms_norm(b, x, width)

        def project():
            y = b.op("Reshape", b.linear(normal, width, width, bias=False), split)
            return b.op("Transpose", y, perm=[0, 2, 1, 3])

        q, k, v = _rotate(b, project(), cosine, sine, size), _rotate(b, project(), cosine, sine, size), project()
        scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = b.op("Add", b.op("Mul", scores, b.scalar(1 / math.sqrt(size))), causal)
        context = b.op("MatMul", b.op("Softmax", scores, axis=-1), v)
        context = b.op("Reshape", b.op("Transpose", context, perm=[0, 2, 1, 3]), merge)
        x = b.op("Add", x, b.linear(context, width, width, bias=False))
        b.scope = [f"layer{layer}", "mlp"]
        normal = _rms_norm(b, x, width)
        gate = b.linear(normal, width, inner, bias=False)
        gate = b.op("Mul", gate, b.op("Sigmoid", gate))
        y = b.op("Mul", gate, b.linear(normal, width, inner, bias=False))
        x = b.op("Add", x, b.linear(y, inner, width, bias=False))
    b.output(x, "y", [batch, sequence, width])
    return b.model("decoder")


def lstm(batch=1, small=False, seed=0, steps=None, hidden=None):
    """An LSTM cell unrolled over its sequence, in primitive operators."""
    b = Builder(seed, opset=13)
    inputs = 8 if small else 128
    hidden = hidden or (12 if small else 128)
    steps = steps or (4 if small else 16)
    x = b.input("x", [steps, batch, inputs])
    h = b.input("h0", [batch, hidden])
    c = b.input("c0", [batch, hidden])
    w = b.weight(inputs, 4 * hidden, fan_in=inputs)
    r = b.weight(hidden, 4 * hidden, fan_in=hidden)
    bias = b.normal(4 * hidden, scale=0.1)
    outputs = []
    for t in range(steps):
        b.scope = [f"step{t}"]
        row = b.op("Gather", x, b.constant(np.array(t, np.int64)), axis=0)
        gates = b.op("Add", b.op("Add", b.op("MatMul", row, w), b.op("MatMul", h, r)), bias)
        i, f, g, o = b.op("Split", gates, outputs=4, axis=1)
        c = b.op("Add", b.op("Mul", b.op("Sigmoid", f), c), b.op("Mul", b.op("Sigmoid", i), b.op("Tanh", g)))
        h = b.op("Mul", b.op("Sigmoid", o), b.op("Tanh", c))
        outputs.append(b.op("Unsqueeze", h, b.ints(0)))
    b.scope = []
    b.output(b.op("Concat", *outputs, axis=0), "y", [steps, batch, hidden])
    b.output(h, "h", [batch, hidden])
    b.output(c, "c", [batch, hidden])
    return b.model("lstm")


def transformer(batch="batch", small=False, seed=0, sequence="sequence"):
    """An encoder block with a symbolic sequence length, its reshapes computed from Shape as exporters do."""
    b = Builder(seed, opset=13)
    width, heads, inner = (32, 4, 64) if small else (256, 8, 1024)
    x = b.input("x", [batch, sequence, width])

    def dim(value, axis):
        return b.op("Unsqueeze", b.op("Gather", b.op("Shape", value), b.constant(np.array(axis, np.int64)), axis=0), b.ints(0))

    def split(t):
        return b.op("Reshape", t, b.op("Concat", dim(x, 0), dim(x, 1), b.ints(heads), b.ints(width // heads), axis=0))

    def merge(t):
        heads_by_size = b.op("Mul", dim(t, 2), dim(t, 3))
        return b.op("Reshape", t, b.op("Concat", dim(t, 0), b.ints(-1), heads_by_size, axis=0))

    length = b.op("Squeeze", dim(x, 1), b.ints(0))
    positions = b.op("Range", b.constant(np.array(0, np.int64)), length, b.constant(np.array(1, np.int64)))
    hidden = b.op("Less", b.op("Unsqueeze", positions, b.ints(1)), b.op("Unsqueeze", positions, b.ints(0)))
    mask = b.op("Where", hidden, b.scalar(-1e9), b.scalar(0.0))
    y = _attention(b, _layer_norm(b, x, width), width, heads, split, merge, mask)
    y = b.op("Add", x, y)
    z = b.linear(_gelu(b, b.linear(_layer_norm(b, y, width), width, inner)), inner, width)
    # Flattened and restored, as after a linear layer on (batch * sequence, width).
    flat = b.op("Reshape", z, b.op("Concat", b.ints(-1), dim(z, 2), axis=0))
    z = b.op("Reshape", b.linear(flat, width, width), b.op("Shape", y))
    b.output(b.op("Add", y, z), "y", [batch, sequence, width])
    return b.model("transformer")
