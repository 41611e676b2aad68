"""Operators whose operands are indices, and those whose results are as large as the data says."""

from graph import Rejected, np
from shapes import any_value, axis_of


def indices(g, extents, limits, negative=True):
    """Indices below `limits`, one in each world."""
    if min(limits) == 0:
        raise Rejected("nothing to index")
    low = [-n if negative and g.chance(0.3) else 0 for n in limits]
    dtype = g.choice(("int64", "int64", "int32"))
    arrays = [g.rng.integers(low[w], limits[w], [e[w] for e in extents]).astype(dtype) for w in range(g.worlds)]
    return g.given(arrays, "constant" if g.chance(0.3) else "input")


def gather(g):
    x = any_value(g, (1, 5))
    axis = axis_of(g, x)
    rank = g.choice((0, 1, 1, 2))
    g.node("Gather", [x, indices(g, g.extents(rank, 64), x.extent(axis))], exact=True, axis=axis)


def gather_elements(g):
    x = any_value(g, (1, 4))
    axis = axis_of(g, x)
    extents = x.extents()
    extents[axis] = g.extent(9)
    g.node("GatherElements", [x, indices(g, extents, x.extent(axis))], exact=True, axis=axis)


def nd_indices(g, x, depth, extents, unique=False):
    columns = [g.rng.integers(0, np.array([x.shape[i] for i in range(depth)]), [*[e[0] for e in extents], depth])]
    if unique:
        flat = g.rng.permutation(int(np.prod(x.shape[:depth])))[: int(np.prod([e[0] for e in extents]))]
        columns = [np.stack(np.unravel_index(flat, x.shape[:depth]), -1).reshape([*[e[0] for e in extents], depth])]
    return g.given([columns[0].astype(np.int64)] * g.worlds, g.choice(("constant", "input")))


def gather_nd(g):
    x = any_value(g, (1, 4), where=lambda v: v.fixed() and v.arrays[0].size > 0)
    depth = g.integer(1, x.rank)
    g.node("GatherND", [x, nd_indices(g, x, depth, [(n,) * g.worlds for n in g.choice(((3,), (2, 3), (1,), ()))])], exact=True)


def scatter_nd(g):
    x = any_value(g, (1, 4), where=lambda v: v.fixed() and v.arrays[0].size > 0)
    depth = g.integer(1, x.rank)
    count = min(g.integer(1, 5), int(np.prod(x.shape[:depth])))
    reduction = g.choice((None, "add", "mul", "max", "min")) if g.opset >= 18 and x.dtype != "bool" else None
    at = nd_indices(g, x, depth, [(count,) * g.worlds], unique=True)
    updates = g.array(x.dtype, [(count,) * g.worlds, *x.extents()[depth:]])
    g.node("ScatterND", [x, at, updates], exact=reduction in (None, "max", "min"), reduction=reduction)


def scatter_elements(g):
    x = any_value(g, (1, 3), where=lambda v: min(v.shape) > 0)
    axis = axis_of(g, x)
    extents = x.extents()
    count = min(g.integer(1, 4), min(x.extent(axis)))
    extents[axis] = (count,) * g.worlds
    # No element twice: which of them stays is nowhere said.
    arrays = []
    for w in range(g.worlds):
        shape = [e[w] for e in extents]
        line = g.rng.permutation(x.extent(axis)[w])[:count]
        arrays.append(np.broadcast_to(line.reshape([-1 if i == axis % x.rank else 1 for i in range(x.rank)]), shape).astype(np.int64).copy())
    at = g.given(arrays, g.choice(("constant", "input")))
    reduction = g.choice((None, "add", "mul", *(("max", "min") if g.opset >= 18 else ()))) if g.opset >= 16 and x.dtype != "bool" else None
    g.node(g.choice(("ScatterElements", "ScatterElements", "Scatter")) if reduction is None and g.opset < 11 else "ScatterElements", [x, at, g.array(x.dtype, extents)],
           exact=reduction in (None, "max", "min"), axis=axis, reduction=reduction)


def one_hot(g):
    depth = g.choice((1, 3, 8, 17))
    values = g.const([0, 1] if g.chance(0.6) else [2, -1], g.choice(("float32", "int64")))
    x = indices(g, g.extents(g.integer(0, 3), 256), (depth,) * g.worlds)
    g.node("OneHot", [x, g.const(depth), values], steer=(1,), exact=True, axis=g.integer(-x.rank - 1, x.rank))


def non_zero(g):
    x = g.pick(("bool", "int64", "float32"), (1, 4), lambda v: v.arrays[0].size < 4096 and not any(v.errors))
    at = g.node("NonZero", [x], exact=True)
    if g.chance(0.6):
        g.node("GatherND", [any_like(g, x), g.node("Transpose", [at], exact=True, perm=[1, 0])], exact=True)


def any_like(g, x):
    return g.array("float32", x.extents())


def compress(g):
    x = any_value(g, (1, 4))
    axis = axis_of(g, x) if g.chance(0.7) else None
    extent = x.extent(axis) if axis is not None else tuple(a.size for a in x.arrays)
    if max(extent) > 1000:
        raise Rejected("too long")
    flags = g.given([g.data("bool", (e,)) for e in extent], g.choice(("constant", "input")))
    g.node("Compress", [x, flags], exact=True, axis=axis)


def unique(g):
    x = g.pick(("float32", "int64", "int8"), (1, 3), lambda v: v.arrays[0].size < 2048)
    g.node("Unique", [x], outputs=g.choice((1, 4)), exact=True, sorted=g.integer(0, 1), axis=axis_of(g, x) if g.chance(0.3) else None)


def slice_at_run_time(g):
    x = any_value(g, (1, 4))
    axis = axis_of(g, x)
    most = max(x.extent(axis))
    bound = lambda low, high: g.given([np.array([g.integer(low, high)], np.int64) for _ in range(g.worlds)])  # noqa: E731
    g.node("Slice", [x, bound(-most - 1, most), bound(-most, most + 1), g.const([axis]), *([g.const([g.choice((1, 2, -1))])] if g.chance(0.4) else [])], exact=True,
           steer=(1, 2, 3, 4))


def non_max_suppression(g):
    count = g.choice((1, 5, 17, 40))
    corner = g.data("float32", (1, count, 2), 0, 5)
    boxes = g.given([np.concatenate([corner, corner + g.data("float32", (1, count, 2), 0.5, 4)], 2)] * g.worlds)
    scores = g.given([np.asarray(g.rng.permutation(2 * count).reshape(1, 2, count) / (2 * count), np.float32)] * g.worlds)
    g.node("NonMaxSuppression", [boxes, scores, g.const([g.integer(1, 10)]), g.const([0.3], "float32"), g.const([0.1], "float32")], exact=True, steer=(2, 3, 4))


def losses(g):
    classes = g.choice((2, 5, 17))
    e = [g.extent(9), *g.extents(g.integer(0, 2), 64)]
    if any(0 in extent for extent in e):
        raise Rejected("a mean of nothing")
    labels = indices(g, e, (classes,) * g.worlds, negative=False)
    x = g.array("float32", [e[0], (classes,) * g.worlds, *e[1:]], constant=False)
    g.node(g.choice(("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")), [x, labels], length=classes * max(a.size for a in labels.arrays),
           reduction=g.choice(("none", "mean", "sum")))


def tensor_scatter(g):
    if g.opset < 24:
        raise Rejected("since 24")
    cache = g.array("float32", [g.extent(2), (2,) * g.worlds, (9,) * g.worlds, (4,) * g.worlds], constant=False)
    g.node("TensorScatter", [cache, g.array("float32", [cache.extent(0), (2,) * g.worlds, (3,) * g.worlds, (4,) * g.worlds])], exact=True)


OPS = {"Gather": gather, "GatherElements": gather_elements, "GatherND": gather_nd, "ScatterND": scatter_nd, "ScatterElements": scatter_elements, "OneHot": one_hot,
       "NonZero": non_zero, "Compress": compress, "Unique": unique, "SliceAtRunTime": slice_at_run_time, "NonMaxSuppression": non_max_suppression, "Losses": losses,
       "TensorScatter": tensor_scatter}
