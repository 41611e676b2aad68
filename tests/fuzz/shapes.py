"""Operators that move elements, and the arithmetic of shapes."""

from graph import ALL, Rejected, np


def any_value(g, rank=(0, 6), **rest):
    return g.pick((g.dtype,) if g.chance(0.7) else ALL, rank, **rest)


def axes_of(g, x, least=1):
    count = g.integer(least, x.rank)
    axes = sorted(int(a) for a in g.rng.permutation(x.rank)[:count])
    return [a - x.rank if g.chance(0.3) else a for a in axes]


def axis_of(g, x):
    axis = g.integer(0, x.rank - 1)
    return axis - x.rank if g.chance(0.3) else axis


def with_list(g, op, inputs, name, values, since, **rest):
    """A list that was an attribute before operator set `since`, and an input after."""
    if g.opset < since:
        return g.node(op, inputs, **{name: values}, **rest)
    return g.node(op, [*inputs, g.const(values)], steer=(len(inputs),), **rest)


def transpose(g):
    x = any_value(g, (1, 6))
    g.node("Transpose", [x], exact=True, perm=[int(a) for a in g.rng.permutation(x.rank)] if g.chance(0.9) else None)


def reshape(g):
    x = any_value(g)
    shape, target = list(x.shape), []
    if g.chance(0.3) and not x.fixed():
        # The shape of another value, or its own with two axes merged, by arithmetic.
        return reshape_by_shape(g, x)
    while shape:
        merged = shape.pop(0)
        while shape and g.chance(0.4):
            merged *= shape.pop(0)
        for factor in (2, 3, 4, 8):
            if merged and merged % factor == 0 and g.chance(0.2):
                target.append(factor)
                merged //= factor
        target.append(merged)
    if target and g.chance(0.5) or not x.fixed():
        if not target:
            raise Rejected("a scalar")
        target[g.integer(0, len(target) - 1)] = -1
    for i in range(min(len(target), x.rank)):
        if target[i] == x.shape[i] and g.chance(0.3):
            target[i] = 0
    return g.node("Reshape", [x, g.const(np.array(target, np.int64))], exact=True, steer=(1,))


def reshape_by_shape(g, x):
    if x.rank < 2:
        raise Rejected("of one axis")
    if any(0 in a.shape for a in x.arrays):
        raise Rejected("a length of 0 is a dimension to copy, for ONNX Runtime")
    shape = g.node("Shape", [x])
    at = g.integer(0, x.rank - 2)
    head = [g.node("Gather", [shape, g.const([i])]) for i in range(at)]
    target = g.node("Concat", [*head, g.const([-1]), *[g.node("Gather", [shape, g.const([i])]) for i in range(at + 2, x.rank)]], axis=0)
    return g.node("Reshape", [x, target], exact=True, steer=(1,))


def flatten(g):
    x = any_value(g, (1, 6))
    g.node("Flatten", [x], exact=True, axis=g.integer(-x.rank, x.rank))


def squeeze(g):
    x = any_value(g, (1, 6), where=lambda v: any(set(e) == {1} for e in v.extents()))
    ones = [i for i, e in enumerate(x.extents()) if set(e) == {1}]
    if g.chance(0.2):
        g.node("Squeeze", [x], exact=True)
        return
    with_list(g, "Squeeze", [x], "axes", [a for a in ones if g.chance(0.7)] or ones[:1], 13, exact=True)


def unsqueeze(g):
    x = any_value(g, (0, 4))
    axes = sorted(int(a) for a in g.rng.permutation(x.rank + 1)[: g.integer(1, min(2, x.rank + 1))])
    with_list(g, "Unsqueeze", [x], "axes", axes, 13, exact=True)


def concat(g):
    x = any_value(g, (1, 6))
    axis = g.integer(0, x.rank - 1)
    inputs = [x]
    for _ in range(g.integer(0, 3)):
        extents = x.extents()
        extents[axis] = g.extent(9)
        inputs.append(x if g.chance(0.1) else g.array(x.dtype, extents))
    g.rng.shuffle(inputs)
    g.node("Concat", list(inputs), exact=True, axis=axis - x.rank if g.chance(0.3) else axis)


def split(g):
    x = any_value(g, (1, 6), where=lambda v: any(len(set(e)) == 1 and e[0] > 1 for e in v.extents()))
    axis = g.choice([i for i, e in enumerate(x.extents()) if len(set(e)) == 1 and e[0] > 1])
    extent = x.shape[axis]
    count = g.choice([n for n in (2, 3, 4) if n <= extent])
    if g.opset >= 18 and g.chance(0.4):
        g.node("Split", [x], outputs=count, exact=True, axis=axis, num_outputs=count)
        return
    if extent % count == 0 and g.chance(0.4) and g.opset < 18:
        g.node("Split", [x], outputs=count, exact=True, axis=axis)
        return
    cuts = np.sort(g.rng.integers(0, extent + 1, count - 1))
    sizes = [int(s) for s in np.diff([0, *cuts, extent])]
    with_list(g, "Split", [x], "split", sizes, 13, outputs=count, exact=True, axis=axis)


def slice_(g):
    x = any_value(g, (1, 6))
    axes = axes_of(g, x)
    starts, ends, steps = [], [], []
    for axis in axes:
        most = max(x.extent(axis))
        step = g.choice((1, 1, 1, 2, 3, -1, -2))
        starts.append(g.integer(-most - 1, most + 1) if g.chance(0.6) else (0 if step > 0 else -1))
        ends.append(g.integer(-most - 1, most + 1) if g.chance(0.5) else (2**63 - 1 if step > 0 else -(2**63)))
        steps.append(step)
    if g.opset < 10:
        raise Rejected("attributes")
    g.node("Slice", [x, g.const(starts), g.const(ends), g.const(axes), *([g.const(steps)] if set(steps) != {1} or g.chance(0.5) else [])], exact=True, steer=(1, 2, 3, 4))


def pad(g):
    x = any_value(g, (1, 5))
    mode = g.choice(("constant", "constant", "reflect", "edge", *(("wrap",) if g.opset >= 19 else ())))
    least = [min(e) for e in x.extents()]
    pads = [g.integer(0, 2 if mode == "constant" else max(0, min(2, least[i % x.rank] - 1))) for i in range(2 * x.rank)]
    if mode == "constant" and g.chance(0.2):
        pads[g.integer(0, len(pads) - 1)] = -1
    if g.opset < 11:
        g.node("Pad", [x], exact=True, mode=mode, pads=pads)
        return
    value = [g.given([g.data(x.dtype, ())] * g.worlds, "constant")] if mode == "constant" and g.chance(0.5) else []
    g.node("Pad", [x, g.const(pads), *value], exact=True, steer=(1, 2), mode=mode)


def expand(g):
    x = any_value(g, (0, 5))
    target = [g.choice((2, 3, 5)) if set(e) == {1} and g.chance(0.6) else (1 if g.chance(0.5) or len(set(e)) > 1 else e[0]) for e in x.extents()]
    if len(target) < 5 and g.chance(0.4):
        target.insert(0, g.choice((1, 2, 3)))
    g.node("Expand", [x, g.const(np.array(target, np.int64))], exact=True, steer=(1,))


def expand_to_shape(g):
    x = any_value(g, (1, 4))
    y = g.like(x, both_ways=False)
    g.node("Expand", [y, g.node("Shape", [x])], exact=True, steer=(1,))


def tile(g):
    x = any_value(g, (1, 4))
    g.node("Tile", [x, g.const([g.choice((1, 1, 2, 3)) for _ in range(x.rank)])], exact=True, steer=(1,))


def depth_to_space(g):
    block = g.choice((2, 3))
    e = [g.extent(4), (g.choice((1, 2, 3)) * block * block,) * g.worlds, g.extent(17), g.extent(17)]
    g.node("DepthToSpace", [g.array(g.dtype, e)], exact=True, blocksize=block, mode=g.choice(("DCR", "CRD")))


def space_to_depth(g):
    block = g.choice((2, 3))
    e = [g.extent(4), g.extent(5), *[tuple(block * max(1, n) for n in g.extent(9)) for _ in range(2)]]
    g.node("SpaceToDepth", [g.array(g.dtype, e)], exact=True, blocksize=block)


def shape(g):
    x = any_value(g)
    bounds = {"start": g.integer(-3, 3), "end": g.integer(-3, 6)} if g.opset >= 15 and g.chance(0.3) else {}
    g.node("Shape", [x], **bounds)


def range_(g):
    dtype = g.choice(("int64", "int32", "float32"))
    g.node("Range", [g.const(g.integer(-3, 3), dtype), g.const(g.integer(4, 40), dtype), g.const(g.choice((1, 2, 3)), dtype)])


def range_of_extent(g):
    x = any_value(g, (1, 5))
    n = g.node("Gather", [g.node("Shape", [x]), g.const(g.integer(0, x.rank - 1))])
    r = g.node("Range", [g.const(0), n, g.const(1)])
    g.node("Cast", [r], to=1)


def constant_of_shape(g):
    from onnx import numpy_helper
    if g.chance(0.5):
        target = g.const([e[0] for e in g.extents(g.rank(0, 4), 4096)])
    else:
        target = g.node("Shape", [any_value(g, (0, 4))])
    value = numpy_helper.from_array(g.data(g.choice(("float32", "int64", "float16", "bool", "int32")), (1,)))
    g.node("ConstantOfShape", [target], value=value if g.chance(0.8) else None)


def trilu(g):
    x = any_value(g, (2, 5))
    g.node("Trilu", [x, *([g.const(g.integer(-4, 4))] if g.chance(0.5) else [])], exact=True, upper=g.integer(0, 1))


def eye_like(g):
    g.node("EyeLike", [any_value(g, 2)], k=g.integer(-2, 2), dtype=g.choice((1, 7, None)))


def reverse_sequence(g):
    e = g.extents(g.integer(2, 4), 4096)
    time = g.integer(0, 1)
    if min(e[time]) == 0:
        raise Rejected("no steps")
    lengths = g.given([g.rng.integers(1, e[time][w] + 1, e[1 - time][w]).astype(np.int64) for w in range(g.worlds)], g.choice(("input", "constant")))
    g.node("ReverseSequence", [g.array(g.dtype, e), lengths], exact=True, time_axis=time, batch_axis=1 - time)


def center_crop_pad(g):
    x = g.pick(("float32",), (1, 4))
    axes = axes_of(g, x)
    g.node("CenterCropPad", [x, g.const([g.integer(1, 20) for _ in axes])], exact=True, steer=(1,), axes=axes)


OPS = {"Transpose": transpose, "Reshape": reshape, "Flatten": flatten, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Concat": concat, "Split": split, "Slice": slice_,
       "Pad": pad, "Expand": expand, "ExpandToShape": expand_to_shape, "Tile": tile, "DepthToSpace": depth_to_space, "SpaceToDepth": space_to_depth, "Shape": shape,
       "Size": lambda g: g.node("Size", [any_value(g)]), "Range": range_, "RangeOfExtent": range_of_extent, "ConstantOfShape": constant_of_shape, "Trilu": trilu,
       "EyeLike": eye_like, "ReverseSequence": reverse_sequence, "CenterCropPad": center_crop_pad}
