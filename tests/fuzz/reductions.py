"""Reductions, norms, softmax, sums along an axis, searches."""

from graph import FLOATS, Rejected, np
from shapes import axes_of, axis_of, with_list

SINCE_18 = ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")


def floats(g, rank=(1, 6), **rest):
    return g.pick((g.dtype,) if g.chance(0.8) and g.dtype in FLOATS else FLOATS[:2], rank, **rest)


def length_of(x, axes):
    return max([1, *(int(np.prod([a.shape[axis] for axis in axes])) for a in x.arrays)])


def in_any_order(array, axes):
    """Whether products of any of the elements are within what the dtype has: who multiplies in another order gets the same."""
    if array.dtype.kind != "f":
        return True
    info, size = np.finfo(array.dtype), np.abs(array.astype(np.float64))
    size[size == 0] = 1
    largest, least = (np.log2(bound(size, 1)).sum(axis=axes) for bound in (np.maximum, np.minimum))
    return bool(np.all(largest < info.maxexp - 1) and np.all(least > info.minexp + 1))


def full(v):
    """Of nothing at all, ONNX Runtime gives another shape, or 0 for a mean."""
    return all(a.size for a in v.arrays)


def summed(count, one_sign):
    """Of terms of one sign that are added one after another, as ONNX Runtime and the interpreter do, roundings may all go
    to one side: half of the worst case, not its square root."""
    return max(count, count * count // 4) if one_sign else count


def reduce(op):
    def add(g):
        # Of integers, ONNX Runtime rounds each exponential to one.
        dtypes = (g.dtype,) if g.chance(0.7) and op != "ReduceLogSumExp" else ("float32", "float64", *(("int32", "int64") if op != "ReduceLogSumExp" else ()), *(("int8", "uint8") if op in ("ReduceMax", "ReduceMin") else ()))
        low = 0.1 if op == "ReduceLogSum" else -2.0
        x = g.within(0.1, 4.0, FLOATS[:2], (1, 6)) if low > 0 else g.pick(dtypes, (1, 6))
        if not full(x):
            raise Rejected("of nothing")
        if op == "ReduceProd" and np.dtype(x.dtype).kind == "i" and any(np.log2(np.maximum(np.abs(a.astype(float)), 1)).sum() >= np.iinfo(a.dtype).bits - 1 for a in x.arrays):
            raise Rejected("overflows: ONNX Runtime saturates")
        power = {"ReduceSum": 1, "ReduceMean": 1, "ReduceL1": 1, "ReduceSumSquare": 2, "ReduceL2": 2}.get(op)
        if power and np.dtype(x.dtype).kind == "i" and any((np.abs(a.astype(float)) ** power).sum() > np.iinfo(a.dtype).max for a in x.arrays):
            raise Rejected("overflows: ONNX Runtime saturates")
        keep = g.integer(0, 1) if g.chance(0.8) else None
        one_sign = op in ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")
        exact = op in ("ReduceMax", "ReduceMin")
        if g.chance(0.15):
            if op == "ReduceProd" and not all(in_any_order(a, None) for a in x.arrays):
                raise Rejected("a part of the product is not finite, or 0")
            g.node(op, [x], length=summed(length_of(x, range(x.rank)), one_sign), exact=exact, keepdims=keep)
            return
        axes = axes_of(g, x)
        if op == "ReduceProd" and not all(in_any_order(a, tuple(axes)) for a in x.arrays):
            raise Rejected("a part of the product is not finite, or 0")
        with_list(g, op, [x], "axes", axes, 13 if op == "ReduceSum" else 18, length=summed(length_of(x, axes), one_sign), exact=exact, keepdims=keep)
    return add


def softmax(op):
    def add(g):
        x = floats(g)
        axis = axis_of(g, x)
        if op == "Hardmax" and g.opset < 13:
            raise Rejected("of two axes")
        g.node(op, [x], length=length_of(x, range(x.rank) if g.opset < 13 else [axis]), exact=op == "Hardmax", axis=axis if g.chance(0.9) or g.opset < 13 else None)
    return add


def arg(op):
    def add(g):
        x = g.pick(("float32", "float64", "int32", "int64"), (1, 6), full)
        g.node(op, [x], exact=True, axis=axis_of(g, x), keepdims=g.integer(0, 1), select_last_index=g.integer(0, 1) if g.opset >= 12 else None)
    return add


def cum_sum(g):
    x = g.pick(("float32", "float64", "int32", "int64"), (1, 4))
    axis = axis_of(g, x)
    g.node("CumSum", [x, g.const(axis)], steer=(1,), length=length_of(x, [axis]), exclusive=g.integer(0, 1), reverse=g.integer(0, 1))


def top_k(g):
    x = g.pick(("float32", "float64", "int64", "int32"), (1, 4))
    axis = axis_of(g, x)
    least = min(x.extent(axis))
    g.node("TopK", [x, g.const([g.integer(0 if g.chance(0.1) else min(1, least), min(least, 20))])], outputs=(g.chance(0.8), True), exact=True, steer=(1,), axis=axis,
           largest=g.integer(0, 1))


def vector(g, x, axis, **rest):
    return g.array(x.dtype, [x.extent(axis)], **rest)


def batch_norm(g):
    x = floats(g, (2, 5))
    if x.dtype == "float16":
        raise Rejected("of one dtype only")
    g.node("BatchNormalization", [x, vector(g, x, 1), vector(g, x, 1), vector(g, x, 1), vector(g, x, 1, low=0.5)], steer=(4,), epsilon=g.choice((None, 1e-3)))


def instance_norm(g):
    x = floats(g, (3, 5))
    if min(int(np.prod(a.shape[2:])) for a in x.arrays) < 2:
        raise Rejected("ONNX Runtime does not cancel the mean of one element")
    g.node("InstanceNormalization", [x, vector(g, x, 1), vector(g, x, 1)], length=length_of(x, range(2, x.rank)))


def group_norm(g):
    groups, each = g.choice((1, 2, 3, 8)), g.choice((1, 2, 5))
    x = g.array(g.dtype, [g.extent(4), (groups * each,) * g.worlds, *g.extents(g.integer(1, 2), 2048)])
    if g.dtype == "float64" and g.opset >= 21:
        raise Rejected("ONNX Runtime computes its first stage in single precision")
    channels = vector(g, x, 1) if g.opset >= 21 else g.array(g.dtype, [(groups,) * g.worlds])
    # Where a group's elements are near each other, ONNX Runtime's x * factor - mean * factor cancels.
    mean_over_deviation = 0.0
    for a in x.arrays:
        if a.size:
            rows = a.astype(float).reshape(a.shape[0], groups, -1)
            mean_over_deviation = max(mean_over_deviation, (np.abs(rows).max(2) / np.sqrt(rows.var(2) + 1e-5)).max())
    scale = mean_over_deviation * max(np.abs(a).max(initial=0.0) for a in channels.arrays)
    g.node("GroupNormalization", [x, channels, channels], length=length_of(x, range(1, x.rank)), scale=scale, num_groups=groups)


def layer_norm(op, domain="", skip=False):
    def add(g):
        x = floats(g, (3, 3) if skip else (1, 5))
        axis = -1 if skip or domain else axis_of(g, x)
        extents = x.extents()[axis:]
        row = g.array(x.dtype, extents)
        if skip:
            bias = [vector(g, x, -1)] if g.chance(0.5) and op == "SkipSimplifiedLayerNormalization" else []
            beta = [vector(g, x, -1)] if g.chance(0.5) and op == "SkipLayerNormalization" else []
            g.node(op, [x, g.array(x.dtype, x.extents()), row, *beta, *bias], domain=domain, length=length_of(x, [-1]), epsilon=1e-5)
            return
        bias = [g.array(x.dtype, extents)] if op == "LayerNormalization" and g.chance(0.5) else []
        g.node(op, [x, row, *bias], length=length_of(x, range(axis % x.rank, x.rank)), axis=axis, epsilon=g.choice((None, 1e-3)))
    return add


def lrn(g):
    g.node("LRN", [g.pick(("float32",), 4)], size=g.choice((1, 3, 4, 5)), alpha=g.choice((None, 0.01, 0.5)), beta=g.choice((None, 0.5)), bias=g.choice((None, 2.0)))


def lp_norm(g):
    x = g.pick(("float32", "float64"), (1, 4))
    axis = axis_of(g, x)
    g.node("LpNormalization", [x], length=length_of(x, [axis]), axis=axis, p=g.integer(1, 2))


def mean_variance(g):
    x = g.pick(("float32",), 4)
    axes = axes_of(g, x) if g.chance(0.4) else None
    # The peer takes the square of the mean from the mean of squares. That leaves of the variance a share of rounding errors as
    # great as it is smaller than they are; of its root, and so of the result, half of that share.
    along, scale = tuple(axes or (0, 2, 3)), 0.0
    for array in x.arrays if all(a.size for a in x.arrays) else []:
        array = array.astype(np.float64)
        variance = array.var(along, keepdims=True)
        normal = np.abs(array - array.mean(along, keepdims=True)) / (np.sqrt(variance) + 1e-9)
        with np.errstate(divide="ignore", invalid="ignore"):
            amplified = 0.5 * normal * (array**2).mean(along, keepdims=True) / variance
        scale = max(scale, float(np.nan_to_num(amplified, nan=0.0, posinf=np.inf).max()))
    g.node("MeanVarianceNormalization", [x], length=length_of(x, [0, 2, 3]), scale=scale, axes=axes)


def by_hand(g):
    """Layer norm, softmax or RMS norm as exporters write them out."""
    x = floats(g)
    if any(a.size == 0 for a in x.arrays):
        raise Rejected("ONNX Runtime keeps the axes of reductions of nothing")
    if g.opset >= 18:
        last, keep = g.const([-1]), {"keepdims": 1}
        mean = lambda v, op="ReduceMean": g.node(op, [v, last], steer=(1,), length=length_of(v, [-1]), exact=op == "ReduceMax", **keep)  # noqa: E731
    else:
        mean = lambda v, op="ReduceMean": g.node(op, [v], length=length_of(v, [-1]), exact=op == "ReduceMax", axes=[-1], keepdims=1)  # noqa: E731
    kind = g.integer(0, 2)
    if kind == 0:
        centred = g.node("Sub", [x, mean(x)])
        spread = mean(g.node("Mul", [centred, centred]) if g.chance(0.5) else g.node("Pow", [centred, g.const(2, x.dtype)]))
        norm = g.node("Div", [centred, g.node("Sqrt", [g.node("Add", [spread, g.const(1e-3, x.dtype)])])])
        g.node("Add", [g.node("Mul", [norm, vector(g, x, -1)]), vector(g, x, -1)])
    elif kind == 1:
        e = g.node("Exp", [g.node("Sub", [x, mean(x, "ReduceMax")])])
        total = g.node("ReduceSum", [e, g.const([-1])], steer=(1,), length=length_of(x, [-1]), keepdims=1) if g.opset >= 13 else mean(e)
        g.node("Div", [e, total])
    else:
        scale = g.node("Reciprocal", [g.node("Sqrt", [g.node("Add", [mean(g.node("Mul", [x, x])), g.const(1e-3, x.dtype)])])])
        g.node("Mul", [g.node("Mul", [x, scale]), vector(g, x, -1)])


OPS = {
    **{op: reduce(op) for op in (*SINCE_18, "ReduceSum")},
    **{op: softmax(op) for op in ("Softmax", "LogSoftmax", "Hardmax")},
    "ArgMax": arg("ArgMax"), "ArgMin": arg("ArgMin"), "CumSum": cum_sum, "TopK": top_k,
    "BatchNormalization": batch_norm, "InstanceNormalization": instance_norm, "GroupNormalization": group_norm, "LRN": lrn, "LpNormalization": lp_norm,
    "MeanVarianceNormalization": mean_variance, "LayerNormalization": layer_norm("LayerNormalization"), "RMSNormalization": layer_norm("RMSNormalization"),
    "SimplifiedLayerNormalization": layer_norm("SimplifiedLayerNormalization"),
    "SkipLayerNormalization": layer_norm("SkipLayerNormalization", "com.microsoft", True),
    "SkipSimplifiedLayerNormalization": layer_norm("SkipSimplifiedLayerNormalization", "com.microsoft", True), "NormByHand": by_hand,
}
