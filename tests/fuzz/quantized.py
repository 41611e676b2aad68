"""Quantised operators, of ONNX and of com.microsoft."""

from graph import Rejected, np
from heavy import LONG, fixed, windows

BYTES = ("uint8", "int8")


def bounds(dtype):
    return (0, 255) if dtype == "uint8" else (-128, 127)


def scale(g, shape=()):
    # Powers of two: dividing by them is exact, so that ties round alike everywhere.
    return g.given([np.asarray(2.0 ** g.rng.integers(-7, -3, shape), np.float32)] * g.worlds, "constant")


def zero(g, dtype, shape=()):
    """Even: whether it is added before a tie is rounded or after is then the same."""
    low, high = bounds(dtype)
    return g.given([g.data(dtype, shape, low // 8, high // 8) * np.dtype(dtype).type(2)] * g.worlds, "constant")


def byte_array(g, dtype, extents, constant=False):
    return g.array(dtype, extents, *bounds(dtype), constant=constant)


def weight_array(g, dtype, extents, constant=False):
    """The right operand of a product. ONNX Runtime sums pairs of products of uint8 and int8 in 16 bits on CPUs without
    dot products of bytes, where weights of more than 7 bits saturate."""
    return g.array(dtype, extents, *((0, 255) if dtype == "uint8" else (-64, 63)), constant=constant)


def byte_value(g, rank=(1, 4)):
    return g.pick(BYTES, rank)


def quantize(g):
    x = g.pick(("float32",), (0, 4))
    dtype = g.choice(BYTES)
    if x.rank and g.opset >= 13 and g.chance(0.4) and len(set(x.extent(-1))) == 1:
        per = (x.shape[-1],)
        g.node("QuantizeLinear", [x, scale(g, per), zero(g, dtype, per)], steer=(1, 2), axis=-1)
        return
    y = g.node("QuantizeLinear", [x, scale(g), *([zero(g, dtype)] if g.chance(0.8) else [])], steer=(1, 2))
    if g.chance(0.5):
        g.node("DequantizeLinear", [y, scale(g), *([zero(g, y.dtype)] if g.chance(0.8) else [])], steer=(1, 2))


def dequantize(g):
    x = byte_value(g)
    if g.opset >= 13 and g.chance(0.5) and len(set(x.extent(-1))) == 1:
        per = (x.shape[-1],)
        g.node("DequantizeLinear", [x, scale(g, per), *([zero(g, x.dtype, per)] if g.chance(0.7) else [])], steer=(1, 2), axis=x.rank - 1)
        return
    g.node("DequantizeLinear", [x, scale(g), *([zero(g, x.dtype)] if g.chance(0.7) else [])], steer=(1, 2))


def dynamic_quantize(g):
    g.node("DynamicQuantizeLinear", [g.pick(("float32",), (1, 4))], outputs=3)


def product(g):
    m, k, n = g.extent(33), g.choice(LONG[:10]), g.choice(LONG[:10])
    return byte_array(g, g.choice(BYTES), [*g.extents(g.choice((0, 0, 1)), 3), m, (k,) * g.worlds]), weight_array(g, g.choice(BYTES), fixed(g, k, n), g.chance(0.7))


def matmul_integer(g):
    a, b = product(g)
    zeros = g.choice(([], [zero(g, a.dtype)], [zero(g, a.dtype), zero(g, b.dtype)]))
    g.node("MatMulInteger", [a, b, *zeros])


def matmul_integer_to_float(g):
    a, b = product(g)
    more = [zero(g, a.dtype), zero(g, b.dtype)] if g.chance(0.5) else []
    g.node("MatMulIntegerToFloat", [a, b, scale(g), scale(g), *more], domain="com.microsoft")


def qlinear_matmul(g):
    a, b = product(g)
    out = a.dtype
    g.node("QLinearMatMul", [a, scale(g), zero(g, a.dtype), b, scale(g), zero(g, b.dtype), scale(g), zero(g, out)])


def image(g):
    attributes, extents = windows(g, 2, most=17)
    group = g.choice((1, 1, 2))
    inside, outside = group * g.choice((1, 3, 8)), group * g.choice((1, 4, 17))
    x = byte_array(g, g.choice(BYTES), [g.extent(2), *fixed(g, inside), *extents])
    w = weight_array(g, g.choice(BYTES), fixed(g, outside, inside // group, *attributes["kernel_shape"]), True)
    if x.dtype == "int8" and w.dtype == "uint8":
        raise Rejected("not there")
    return x, w, outside, {**attributes, "group": group}


def conv_integer(g):
    x, w, _, attributes = image(g)
    g.node("ConvInteger", [x, w, *g.choice(([], [zero(g, x.dtype)], [zero(g, x.dtype), zero(g, w.dtype)]))], **attributes)


def qlinear_conv(g):
    x, w, outside, attributes = image(g)
    bias = [g.array("int32", fixed(g, outside), -900, 900, constant=True)] if g.chance(0.5) else []
    g.node("QLinearConv", [x, scale(g), zero(g, x.dtype), w, scale(g), zero(g, w.dtype), scale(g), zero(g, x.dtype), *bias], **attributes)


def pattern(g):
    """Dequantise, compute, quantise, as quantisers write it."""
    x = g.node("DequantizeLinear", [byte_array(g, "uint8", [g.extent(17), (64,) * g.worlds]), scale(g), zero(g, "uint8")], steer=(1, 2))
    w = g.node("DequantizeLinear", [weight_array(g, "int8", fixed(g, 64, g.choice((8, 17, 32))), True), scale(g), zero(g, "int8")], steer=(1, 2))
    y = g.node("MatMul", [x, w], length=64)
    if g.chance(0.5):
        y = g.node("Relu", [y])
    g.node("QuantizeLinear", [y, scale(g), zero(g, "uint8")], steer=(1, 2))


def qlinear(op):
    def add(g):
        x = byte_array(g, g.choice(BYTES), [g.extent(3), g.extent(5), g.extent(17)])
        pair = [scale(g), zero(g, x.dtype)]
        y = byte_array(g, x.dtype, x.extents())
        inputs = [x, *pair, y, scale(g), zero(g, x.dtype)] if op in ("QLinearAdd", "QLinearMul") else [x, *pair]
        more = {"alpha": 0.25} if op == "QLinearLeakyRelu" else {}
        g.node(op, [*inputs, scale(g), zero(g, x.dtype)], domain="com.microsoft", **more)
    return add


def matmul_nbits(g):
    k, n, block = g.choice((32, 64, 128)), g.choice((1, 8, 17)), g.choice((16, 32))
    blocks = k // block
    w = g.array("uint8", fixed(g, n, blocks, block // 2), 0, 255, constant=True)
    s = g.array("float32", fixed(g, n, blocks), 0.01, 0.1, constant=True)
    zeros = [g.array("uint8", fixed(g, n, -(-blocks // 2)), 0, 255, constant=True)] if g.chance(0.5) else []
    g.node("MatMulNBits", [g.array("float32", [g.extent(17), (k,) * g.worlds], constant=False), w, s, *zeros], domain="com.microsoft", length=k, K=k, N=n, block_size=block, bits=4)


OPS = {"QuantizeLinear": quantize, "DequantizeLinear": dequantize, "DynamicQuantizeLinear": dynamic_quantize, "MatMulInteger": matmul_integer,
       "MatMulIntegerToFloat": matmul_integer_to_float, "QLinearMatMul": qlinear_matmul, "ConvInteger": conv_integer, "QLinearConv": qlinear_conv, "QuantizedPattern": pattern,
       "MatMulNBits": matmul_nbits, **{op: qlinear(op) for op in ("QLinearAdd", "QLinearMul", "QLinearLeakyRelu", "QLinearSigmoid")}}
