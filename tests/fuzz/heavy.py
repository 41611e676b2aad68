"""Products, convolutions, attention."""

import math

from graph import FLOATS, LONG, Rejected, np, spread
from shapes import with_list

WORK = 1 << 23


def fixed(g, *extents):
    return [(e,) * g.worlds for e in extents]


def sizes(g, *, rows=(1, 1, 2, 3, 5, 8, 16, 17, 33, 64, 100, 128), work=None):
    """M (may be symbolic), K and N of a product."""
    for _ in range(20):
        m = g.extent(128) if g.symbols and g.chance(0.6) else (g.choice(rows),) * g.worlds
        k, n = g.choice(LONG), g.choice(LONG)
        if max(m) * k * n <= (work or WORK) and k * n <= 1 << 20:
            return m, k, n
    raise Rejected("too much work")


def float_dtype(g):
    return g.dtype if g.dtype in FLOATS else "float32"


def epilogue(g, y):
    """What often follows."""
    if g.chance(0.5) and y.rank:
        y = g.node("Add", [y, g.array(y.dtype, [y.extent(-1)])])
    if g.chance(0.3):
        y = g.node(g.choice(("Relu", "Tanh", "Sigmoid")), [y])
    if g.chance(0.2):
        y = g.node("Add", [y, g.array(y.dtype, y.extents())])
    return y


def operand(g, dtype, extents, constant=None):
    """Sometimes computed just before, so that something may be fused into it."""
    x = g.array(dtype, extents, constant=constant)
    if constant is None and g.chance(0.2):
        x = g.node(g.choice(("Neg", "Sigmoid", "Relu")), [x])
    return x


def scaled(k):
    """Elements whose sum of k products stays small."""
    return 2.0 / max(1, k) ** 0.5


def matmul(g):
    dtype = float_dtype(g) if g.chance(0.9) else g.choice(("int32", "int64"))
    # Of an old value by a matrix that fits it.
    olds = [v for v in g.values if v.dtype == dtype and v.rank >= 1 and len(set(v.extent(-1))) == 1 and v.kind != "constant"]
    if olds and g.chance(0.5):
        x = g.choice(olds)
        k, n = x.shape[-1], g.choice(LONG)
        if max(a.size for a in x.arrays) * n > WORK or k * n > 1 << 20:
            raise Rejected("too much work")
        m = None
    else:
        m, k, n = sizes(g)
        form = g.integer(0, 5)
        batch = [] if form < 4 else g.extents(g.integer(1, 2), max(1, min(64, WORK // max(1, max(m) * k * n))))
        x = operand(g, dtype, [*batch, *([] if form == 0 else [m]), (k,) * g.worlds])
        if form == 5:
            y = operand(g, dtype, [*[e if g.chance(0.7) else (1,) * g.worlds for e in batch], *fixed(g, k, n)])
            return epilogue(g, g.node("MatMul", [x, y], length=k))
    wide = scaled(k)
    y = g.array(dtype, fixed(g, k, n) if g.chance(0.95) else fixed(g, k), -wide, wide, constant=g.chance(0.7))
    return epilogue(g, g.node("MatMul", [x, y], length=k))


def gemm(g):
    dtype = float_dtype(g)
    m, k, n = sizes(g)
    ta, tb, wide = g.integer(0, 1), g.integer(0, 1), scaled(k)
    a = operand(g, dtype, [(k,) * g.worlds, m] if ta else [m, (k,) * g.worlds])
    b = g.array(dtype, fixed(g, n, k) if tb else fixed(g, k, n), -wide, wide, constant=g.chance(0.7))
    c = [g.array(dtype, g.choice(([], fixed(g, n), fixed(g, 1, n), [m, (1,) * g.worlds], [m, (n,) * g.worlds])))] if g.chance(0.7) else []
    op, domain, more = "Gemm", "", {}
    if dtype == "float32" and g.chance(0.15):
        op, domain, more = "FusedGemm", "com.microsoft", {"activation": g.choice(("Relu", "Tanh", "Sigmoid"))}
    y = g.node(op, [a, b, *c], domain=domain, length=k, transA=ta, transB=tb, alpha=g.choice((None, 0.5)), beta=g.choice((None, 2.0)), **more)
    return epilogue(g, y)


def fused_matmul(g):
    m, k, n = sizes(g, work=1 << 20)
    ta, tb = g.integer(0, 1), g.integer(0, 1)
    batch = fixed(g, g.choice((1, 2, 3)))
    a = g.array("float32", batch + ([(k,) * g.worlds, m] if ta else [m, (k,) * g.worlds]))
    b = g.array("float32", (batch if g.chance(0.5) else []) + (fixed(g, n, k) if tb else fixed(g, k, n)))
    g.node("FusedMatMul", [a, b], domain="com.microsoft", length=k, transA=ta, transB=tb, alpha=g.choice((None, 0.25)))


EQUATIONS = ("ij,jk->ik", "bij,bjk->bik", "bij,bkj->bik", "bhid,bhjd->bhij", "bihd,bjhd->bhij", "bhij,bjhd->bihd", "ij,kj->ki", "i,j->ij", "ij->ji", "bij->bj", "ij,ij->",
             "...ij,...jk->...ik", "ijk,jkl->il", "bij,j->bi", "ij,j,jk->ik", "ii->i", "ii", "bi,ij,bj->b", "abc,cd->abd", "ab,cd->acbd", "bdhw,hd->bwd")


def einsum(g):
    equation, dtype = g.choice(EQUATIONS), float_dtype(g)
    extent, inputs, work = {}, [], 1
    for term in equation.split("->")[0].split(","):
        letters = term.replace("...", "")
        for letter in letters:
            if letter not in extent:
                extent[letter] = g.extent(4) if letter in "bh" else (g.extent(17) if g.chance(0.5) else (g.choice((1, 7, 16, 17, 31, 64, 127, 128)),) * g.worlds)
                work *= max(extent[letter])
        inputs.append(fixed(g, 2) * ("..." in term) + [extent[letter] for letter in letters])
    if work > 1 << 21:
        raise Rejected("too much work")
    if work == 0:
        raise Rejected("ONNX Runtime divides by it")
    summed = [letter for letter in extent if letter not in equation.split("->")[-1]] if "->" in equation else list(extent)
    operands = [operand(g, dtype, e, None if dtype != "float16" else False) for e in inputs]
    # Terms may be larger than their sum, of a diagonal for one.
    scale = float(np.prod([max(spread(array) for array in x.arrays) for x in operands]))
    g.node("Einsum", operands, length=int(np.prod([max(extent[s]) for s in summed] or [1])), scale=scale, equation=equation)


def windows(g, rank, *, most=33):
    """Kernel, attributes and extents of an image."""
    kernel = [g.choice((1, 1, 2, 3, 3, 5, 7)) for _ in range(rank)] if g.chance(0.5) else [g.choice((1, 3, 5))] * rank
    strides = [g.choice((1, 1, 2, 3)) for _ in range(rank)] if g.chance(0.5) else [1] * rank
    dilations = [g.choice((1, 2, 3)) for _ in range(rank)] if g.chance(0.25) else [1] * rank
    attributes = {"kernel_shape": kernel}
    if strides != [1] * rank or g.chance(0.3):
        attributes["strides"] = strides
    if dilations != [1] * rank:
        attributes["dilations"] = dilations
    if g.chance(0.2) and "dilations" not in attributes:
        attributes["auto_pad"] = g.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    elif g.chance(0.6):
        pads = [g.integer(0, (k - 1) * d // 2 + (1 if k > 1 else 0)) for k, d in zip(kernel, dilations)]
        attributes["pads"] = pads + (pads if g.chance(0.7) else [max(0, p - 1) for p in pads])
    image = []
    for k, d in zip(kernel, dilations):
        least = (k - 1) * d + 1
        extent = g.extent(most if rank > 1 else 1000)
        image.append(tuple(e + least if e < least else e for e in extent))
    return attributes, image


def channels(g):
    return g.choice((1, 2, 3, 4, 7, 8, 16, 17, 31, 32, 64, 127, 128))


def conv(g, transpose=False):
    rank = g.choice((1, 2, 2, 2, 2, 3))
    attributes, image = windows(g, rank, most=33 if rank < 3 else 9)
    if transpose and "auto_pad" in attributes and any(k < s for k, s in zip(attributes["kernel_shape"], attributes.get("strides", [1] * rank))):
        raise Rejected("ONNX Runtime does not crop to less than the windows cover")
    dtype = float_dtype(g)
    kind = g.choice(("plain", "plain", "plain", "group", "depthwise"))
    inside, outside, group = channels(g), channels(g), 1
    if kind == "group":
        group = g.choice((2, 3, 4))
        inside, outside = group * g.choice((1, 2, 5, 8, 16)), group * g.choice((1, 2, 3, 8, 17))
    elif kind == "depthwise":
        group = inside
        outside = inside * g.choice((1, 1, 1, 2))
    batch = g.extent(3)
    work = max(batch) * inside * outside // group * int(np.prod(attributes["kernel_shape"])) * int(np.prod([max(e) for e in image]))
    if work > 3 * WORK or inside * int(np.prod([max(e) for e in image])) * max(batch) > 1 << 19:
        raise Rejected("too much work")
    x = operand(g, dtype, [batch, (inside,) * g.worlds, *image])
    length = inside // group * int(np.prod(attributes["kernel_shape"]))
    wide = scaled(length)
    kernel = attributes["kernel_shape"]
    shape = (inside, outside // group, *kernel) if transpose else (outside, inside // group, *kernel)
    w = g.array(dtype, fixed(g, *shape), -wide, wide, constant=g.chance(0.85))
    b = [g.array(dtype, fixed(g, outside))] if g.chance(0.6) else []
    if transpose and "strides" in attributes and g.chance(0.3):
        attributes["output_padding"] = [g.integer(0, s - 1) for s in attributes["strides"]]
    y = g.node("ConvTranspose" if transpose else "Conv", [x, w, *b], length=length, group=group if group > 1 or g.chance(0.5) else None, **attributes)
    if g.chance(0.25) and dtype != "float16":
        of = fixed(g, outside)
        y = g.node("BatchNormalization", [y, *[g.array(dtype, of, constant=True) for _ in range(3)], g.array(dtype, of, 0.5, 2.0, constant=True)])
    if g.chance(0.4):
        y = g.node(g.choice(("Relu", "Sigmoid", "LeakyRelu")), [y])
    if g.chance(0.2):
        y = g.node("Add", [y, g.array(dtype, y.extents())])
    return y


def attention_by_hand(g):
    """Scores, mask, softmax, values, as exporters write them."""
    dtype = float_dtype(g)
    b, h, s = g.extent(2), g.choice((1, 2, 3)), g.extent(65)
    t = s if g.chance(0.6) else g.extent(65)
    d, dv = g.choice((4, 8, 16, 17, 64)), g.choice((8, 16, 31, 64))
    image = g.chance(0.2)
    if image:
        of_rows, of_keys = ([g.integer(1, 9), g.integer(1, 9)] for _ in range(2))
        (s,), (t,) = (fixed(g, math.prod(size)) for size in (of_rows, of_keys))
    if max(b) * h * max(s) * max(t) * (d + dv) > WORK:
        raise Rejected("too much work")
    # Heads may share all keys and values.
    own = h if g.chance(0.7) else 1
    if g.chance(0.5):
        q, v = (g.node("Transpose", [g.array(dtype, [b, e, *fixed(g, n, w)], constant=False)], exact=True, perm=[0, 2, 1, 3]) for e, n, w in ((s, h, d), (t, own, dv)))
        k = g.node("Transpose", [g.array(dtype, [b, t, *fixed(g, own, d)], constant=False)], exact=True, perm=[0, 2, 3, 1])
    else:
        q, v = (g.array(dtype, [b, *fixed(g, n), e, (w,) * g.worlds], constant=False) for e, n, w in ((s, h, d), (t, own, dv)))
        k = g.array(dtype, [b, *fixed(g, own, d), t], constant=False)
    scores = g.node("MatMul", [q, k], length=d)
    scores = g.node(*g.choice((("Mul", [scores, g.const(d**-0.5, dtype)]), ("Div", [scores, g.const(d**0.5, dtype)]))))
    if image:
        # A term for each row of the image that the keys are, and one for each column.
        terms = [g.array(dtype, [b, *fixed(g, h, *of_rows, extent)], constant=False) for extent in of_keys]
        bias = g.node("Add", [with_list(g, "Unsqueeze", [term], "axes", [axis], 13, exact=True) for term, axis in zip(terms, (5, 4))])
        bias = g.node("Reshape", [bias, g.const([0, 0, math.prod(of_rows), math.prod(of_keys)])], steer=(1,), exact=True)
        scores = g.node("Add", [scores, bias])
    # Rows that see nothing are NaN, unless they are guarded.
    guarded = g.opset >= 13 and g.chance(0.3)
    if guarded or g.chance(0.5):
        mask = g.array("bool", [*g.choice(([], [b, (1,) * g.worlds])), s, t])
        hidden = g.const([-math.inf], dtype) if guarded else g.const(-100, dtype)
        scores = g.choice((lambda: g.node("Where", [mask, scores, hidden]), lambda: g.node("Add", [scores, g.array(dtype, mask.extents())])))()
    weights = g.node("Softmax", [scores], length=max(t), axis=-1) if g.opset >= 13 else g.node("Softmax", [scores], length=max(t), axis=3)
    if guarded:
        weights = g.node("Where", [g.node("IsNaN", [weights]), g.const([0], dtype), weights])
    y = g.node("MatMul", [weights, v], length=max(t))
    if g.chance(0.5):
        y = g.node("Transpose", [y], exact=True, perm=[0, 2, 1, 3])
        y = g.node("Reshape", [y, g.const([0, 0, h * dv])], steer=(1,), exact=True)
    return y


def mask(g, dtype, s, t):
    """Of every row the first key is seen."""
    arrays = [g.data(dtype, (s[w], t[w])) for w in range(g.worlds)]
    for array in arrays:
        array[:, :1] = 1
    return g.given(arrays)


def attention(g):
    if g.opset < 23:
        raise Rejected("since 23")
    heads, groups = g.choice(((1, 1), (2, 1), (4, 1), (4, 2), (6, 3)))
    b, s, t, d, dv = g.extent(2), g.extent(33), g.extent(33), g.choice((8, 16, 17)), g.choice((8, 16, 31))
    shape = lambda h, e, w: [b, *fixed(g, h), e, (w,) * g.worlds]  # noqa: E731
    inputs = [g.array("float32", shape(heads, s, d)), g.array("float32", shape(heads // groups, t, d)), g.array("float32", shape(heads // groups, t, dv))]
    # ONNX Runtime caps before it adds a mask, against ONNX's text; and a row that sees nothing is a mean to it.
    masked, causal = g.chance(0.4), g.integer(0, 1)
    if masked:
        inputs.append(mask(g, g.choice(("bool", "float32")), s, t))
    g.node("Attention", inputs, length=max(t) + d, is_causal=causal, scale=g.choice((None, 0.2)), softcap=g.choice((None, 5.0)) if not masked and not causal else None)


def contrib_attention(g):
    heads, d, s, b = g.choice((1, 2, 4)), g.choice((4, 8, 16)), g.extent(33), g.extent(3)
    if g.chance(0.5):
        q = g.array("float32", [b, s, *fixed(g, heads * d)], constant=False)
        k, v = (g.array("float32", [b, s, *fixed(g, heads * d)], constant=False) for _ in range(2))
        g.node("MultiHeadAttention", [q, k, v], domain="com.microsoft", length=max(s) + d, num_heads=heads)
        return
    x = g.array("float32", [b, s, *fixed(g, 12)], constant=False)
    weight, bias = g.array("float32", fixed(g, 12, 3 * heads * d), -0.5, 0.5, constant=True), g.array("float32", fixed(g, 3 * heads * d), constant=True)
    g.node("Attention", [x, weight, bias], domain="com.microsoft", length=max(s) + 12, num_heads=heads, unidirectional=g.integer(0, 1))


def det(g):
    n = g.choice((1, 2, 3, 5))
    x = g.array("float32", [*g.extents(g.integer(0, 2), 16), *fixed(g, n, n)])
    # Beside terms of that size it may vanish; none is greater than the product of the rows' lengths (Hadamard).
    most = max(float(np.linalg.norm(a, axis=-1).prod(-1).max(initial=1.0)) for a in x.arrays)
    g.node("Det", [x], length=n, scale=max(1.0, most / n**2))


OPS = {"MatMul": matmul, "Gemm": gemm, "FusedMatMul": fused_matmul, "Einsum": einsum, "Conv": conv, "ConvTranspose": lambda g: conv(g, True), "Attention": attention,
       "AttentionByHand": attention_by_hand, "ContribAttention": contrib_attention, "Det": det}
