"""Windows over images: pools, resampling."""

from graph import Rejected, np
from heavy import fixed, float_dtype, windows


def image(g, rank, extents=None, dtype=None):
    x = None
    if extents is None and g.chance(0.5):
        x = g.pick((dtype or float_dtype(g),), rank + 2)
    return x or g.array(dtype or float_dtype(g), [g.extent(3), g.extent(33), *(extents or [g.extent(33) for _ in range(rank)])], constant=False)


def pool(op):
    def add(g):
        rank = g.choice((1, 2, 2, 2, 3))
        attributes, extents = windows(g, rank, most=33 if rank < 3 else 9)
        if "auto_pad" in attributes and any(k < s for k, s in zip(attributes["kernel_shape"], attributes.get("strides", [1] * rank))):
            raise Rejected("ONNX Runtime crops where strides are longer than windows")
        if op == "MaxPool":
            dtype = g.choice(("float32", "float32", "float64", "float16", "int8", "uint8"))
        else:
            dtype = float_dtype(g) if op == "AveragePool" else "float32"
            if g.opset < 19:
                attributes.pop("dilations", None)
        if op == "AveragePool" and g.chance(0.5):
            attributes["count_include_pad"] = g.integer(0, 1)
        if op == "LpPool":
            attributes["p"] = g.integer(1, 3)
        if "auto_pad" not in attributes and g.chance(0.3) and (op != "LpPool" or g.opset >= 18):
            attributes["ceil_mode"] = 1
        outputs = (True, True) if op == "MaxPool" and dtype[0] == "f" and g.chance(0.2) else 1
        x = image(g, rank, extents, dtype)
        g.node(op, [x], outputs=outputs, exact=op == "MaxPool", length=int(np.prod(attributes["kernel_shape"])), **attributes)
    return add


def global_pool(op):
    def add(g):
        x = image(g, g.integer(1, 3))
        g.node(op, [x], exact=op == "GlobalMaxPool", length=max(int(np.prod(a.shape[2:])) for a in x.arrays), p=g.integer(1, 3) if op == "GlobalLpPool" else None)
    return add


def max_unpool(g):
    x = g.array("float32", [g.extent(2), g.extent(3), *[tuple(2 * max(1, n) for n in g.extent(8)) for _ in range(2)]], constant=False)
    y, at = g.node("MaxPool", [x], outputs=2, exact=True, kernel_shape=[2, 2], strides=[2, 2])
    g.node("MaxUnpool", [y, at], exact=True, kernel_shape=[2, 2], strides=[2, 2])


def resize(g):
    rank = g.choice((1, 2, 2, 2, 3))
    mode = g.choice(("nearest", "linear", "linear", "cubic" if rank == 2 else "nearest"))
    x = image(g, rank, dtype=g.choice(("float32", "float32", "uint8", "int8")) if mode == "nearest" else "float32")
    if min(x.shape) == 0:
        raise Rejected("empty")
    where = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"] + (["half_pixel_symmetric"] if g.opset >= 19 else [])
    attributes = {"mode": mode, "coordinate_transformation_mode": g.choice(where)}
    if mode == "nearest":
        attributes["nearest_mode"] = g.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        attributes["cubic_coeff_a"] = g.choice((None, -0.5))
        attributes["exclude_outside"] = g.integer(0, 1)
    if g.opset >= 18 and mode != "nearest" and g.chance(0.2):
        attributes["antialias"] = 1
    # Places in an image are rounded in single precision, by both.
    scale = max(max(a.shape[2:]) / 8 * np.abs(a).max(initial=0.0) for a in x.arrays) if mode != "nearest" else 0.0
    if g.opset < 11:
        if g.opset < 10 or attributes["coordinate_transformation_mode"] != "asymmetric" or mode == "cubic":
            raise Rejected("as of 10")
        scales = g.const([1, 1, *[g.choice((1, 2, 3)) for _ in range(rank)]], "float32")
        g.node("Resize", [x, scales], steer=(1,), length=8, scale=scale, mode=mode)
        return
    nearest_by_rounding = mode == "nearest" and attributes["coordinate_transformation_mode"] == "half_pixel_symmetric"
    if x.fixed() and not nearest_by_rounding and g.chance(0.4):
        target = g.const([x.shape[0], x.shape[1], *[g.choice((1, 2, 5, 8, 16, 17, 31)) for _ in range(rank)]])
        g.node("Resize", [x, None, None, target], steer=(2, 3), length=8, scale=scale, **attributes)
        return
    factors = [g.choice((1.0, 2.0, 2.0, 3.0, 0.5, 1.5, 0.6, 2.5)) for _ in range(rank)]
    if nearest_by_rounding and any(factor % 1 for factor in factors):
        raise Rejected("which element is nearest depends on rounding")
    scales = g.const([1, 1, *factors], "float32")
    g.node("Resize", [x, None, scales], steer=(2,), length=8, scale=scale, **attributes)


def upsample(g):
    if g.opset > 9:
        raise Rejected("removed")
    x = image(g, 2, dtype="float32")
    g.node("Upsample", [x, g.const([1, 1, g.choice((1, 2, 3)), g.choice((1, 2, 3))], "float32")], steer=(1,), mode=g.choice(("nearest", "linear")))


def grid_sample(g):
    b, c, h, w = g.extent(2), g.extent(4), g.extent(17), g.extent(17)
    mode = g.choice(("nearest", "bilinear", "bicubic") if g.opset < 20 else ("nearest", "linear", "cubic"))
    x = g.array("float32", [b, c, h, w], constant=False)
    grid = g.array("float32", [b, g.extent(9), g.extent(9), (2,) * g.worlds], -1.3, 1.3, constant=False)
    g.node("GridSample", [x, grid], length=8, mode=mode, padding_mode=g.choice(("zeros", "border", "reflection")), align_corners=g.integer(0, 1))


def roi_align(g):
    x = g.array("float32", [*fixed(g, 2), g.extent(4), *fixed(g, g.choice((7, 16)), g.choice((8, 13)))], constant=False)
    boxes = g.choice((1, 3, 8))
    corner = g.data("float32", (boxes, 2), 0, 6)
    rois = g.given([np.concatenate([corner, corner + g.data("float32", (boxes, 2), 1, 6)], 1)] * g.worlds)
    which = g.given([g.data("int64", (boxes,), 0, 1)] * g.worlds)
    more = {"coordinate_transformation_mode": g.choice(("half_pixel", "output_half_pixel"))} if g.opset >= 16 else {}
    mode = g.choice(("avg", "avg", "max"))
    g.node("RoiAlign", [x, rois, which], length=16, output_height=g.choice((1, 3, 7)), output_width=g.choice((1, 2, 7)), sampling_ratio=g.choice((1, 2)),
           spatial_scale=g.choice((1.0, 0.5)), mode=mode, **more)


def max_roi_pool(g):
    x = g.array("float32", [*fixed(g, 2), g.extent(4), *fixed(g, g.choice((7, 16)), g.choice((8, 13)))], constant=False)
    boxes = g.choice((1, 3, 8))
    corner = g.data("float32", (boxes, 2), -4, 12)
    rois = g.given([np.concatenate([g.data("int64", (boxes, 1), 0, 1).astype("float32"), corner, corner + g.data("float32", (boxes, 2), -1, 9)], 1)] * g.worlds)
    g.node("MaxRoiPool", [x, rois], length=16, pooled_shape=[g.choice((1, 3, 7)), g.choice((1, 2, 7))], spatial_scale=g.choice((1.0, 0.5)))


def col2im(g):
    kernel, block = [g.choice((1, 2, 3)) for _ in range(2)], [g.choice((5, 7, 8)) for _ in range(2)]
    places = int(np.prod([b - k + 1 for b, k in zip(block, kernel)]))
    x = g.array("float32", [g.extent(3), *fixed(g, 3 * int(np.prod(kernel)), places)], constant=False)
    g.node("Col2Im", [x, g.const(block), g.const(kernel)], steer=(1, 2), length=int(np.prod(kernel)))


def affine_grid(g):
    theta = g.array("float32", fixed(g, 2, 2, 3), constant=False)
    # A corner of one point is -1 to ONNX, 1 to ONNX Runtime.
    g.node("AffineGrid", [theta, g.const([2, 3, g.integer(2, 9), g.integer(2, 9)])], steer=(1,), length=4, align_corners=g.integer(0, 1))


OPS = {**{op: pool(op) for op in ("MaxPool", "AveragePool", "LpPool")}, **{op: global_pool(op) for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")},
       "MaxUnpool": max_unpool, "Resize": resize, "Upsample": upsample, "GridSample": grid_sample, "RoiAlign": roi_align, "MaxRoiPool": max_roi_pool, "Col2Im": col2im, "AffineGrid": affine_grid}
