"""Cases of operators that work along an axis or on all channels of a place: more lines, channels and places than a vector or a block of them has, and such as divide into none."""
import numpy as np
from case import F, I, Const, case, f, i, ints


def order(*shape, count, axis):
    """Places along an axis, none twice in a line."""
    lines = np.random.default_rng(sum(shape)).permuted(np.broadcast_to(np.arange(shape[axis]).reshape([-1 if d == axis else 1 for d in range(len(shape))]), shape), axis=axis)
    return np.ascontiguousarray(np.take(lines, np.arange(count), axis)).astype(I)


def cases():
    for shape, axis in [((5, 300), 0), ((3, 4, 16), 1), ((2, 5, 7, 37), 1), ((6, 3, 256), 0), ((4, 17), 1), ((1, 33), 0)]:
        for exclusive in (0, 1):
            yield case("CumSum", [f(*shape), Const(axis, I)], exclusive=exclusive)
        yield case("CumSum", [i(*shape), Const(axis, I)], reverse=1)
        yield case("ScatterElements", [f(*shape), order(*shape, count=min(shape[axis], 3), axis=axis), f(*shape)[tuple(slice(3 if d == axis else None) for d in range(len(shape)))]], axis=axis)
        yield case("ScatterElements", [f(*shape), np.zeros(shape, I), f(*shape, seed=1)], 18, axis=axis, reduction="add")
    # Fewer updates than the tensor has lines.
    yield case("ScatterElements", [f(4, 5, 40), order(4, 3, 33, count=2, axis=0), f(2, 3, 33)], axis=0)
    for shape, axis, count in [((3, 1000), 1, 5), ((2, 700, 3), 1, 9), ((4, 200), 1, 0), ((2, 129), 1, 100), ((300,), 0, 1), ((40, 7), 0, 8), ((2, 9001), 1, 3), ((1, 20000), 1, 19)]:
        x = f(*shape)
        # Many equal ones, of which the first are wanted; both zeros are one; all equal; one bit from another; least and greatest.
        for values in (x, np.round(x), np.where(x > 1.9, x, np.where(x > 0, 0.0, -0.0)), np.full_like(x, 1.5), 1 + 1e-6 * x, np.where(x > 1.9, np.inf, np.where(x < -1.9, -np.inf, x))):
            for largest in (0, 1):
                yield case("TopK", [values.astype(F), ints(count)], outputs=2, axis=axis, largest=largest)
        for dtype in (np.int64, np.int32, np.uint8, np.float16, np.float64):
            yield case("TopK", [(100 * x).astype(dtype), ints(count)], outputs=2, axis=axis)
    # Different numbers, few and many; such as a table of them has in one place (multiples of the inverse of its factor modulo 2^64).
    meeting = (np.arange(3000, dtype=np.uint64) * np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))).view(I)
    for values in (i(4000) % 50, i(4000) * 7919, np.concatenate([meeting, meeting[::-2]]), np.round(f(3000), 1), f(1), i(2, 3, 5)):
        for is_sorted in (0, 1):
            yield case("Unique", [values], outputs=4, sorted=is_sorted)
    for values in (f(33, 70) > 0.5, np.where(f(5, 40, 3) > 0, f(5, 40, 3), -0.0), np.eye(300, 7, dtype=np.float64), (f(400) > 1.9).astype(np.int64), np.zeros((3, 4), np.float16), np.ones((2, 3, 4, 5), np.uint8)):
        yield case("NonZero", [values])
    for channels in (8, 16, 19, 40):
        x = f(2, channels, 6, 9)
        for line in (3, 16, 37):
            grid = f(2, 4, line, 2, low=-1.3, high=1.3)
            for mode, padding in [("bilinear", "zeros"), ("bilinear", "reflection"), ("nearest", "border"), ("nearest", "zeros"), ("bicubic", "zeros"), ("bicubic", "border")]:
                yield case("GridSample", [x, grid], mode=mode, padding_mode=padding)
        boxes = np.array([[0, 0, 8, 5], [-3, 1, 4, 4], [2, 2, 30, 20], [7, 4, 3, 1]], F)
        for ratio in (0, 2):
            yield case("RoiAlign", [x, boxes, np.array([0, 1, 1, 0], I)], output_height=3, output_width=2, sampling_ratio=ratio)
        yield case("RoiAlign", [x, boxes[:1] + 1, np.array([1], I)], output_height=2, output_width=5, sampling_ratio=3, spatial_scale=0.5, mode="max")
    # Images that are resized: rows of several vectors, by ratios and to lengths.
    for mode in ("linear", "cubic", "nearest"):
        for place in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"):
            for scales in ([1, 1, 2, 2], [1, 1, 1.5, 0.75], [1, 1, 0.5, 3], [1, 1, 0.25, 0.7]):
                if mode == "nearest" and 0.7 in scales:
                    continue  # ties that float32 rounds either way
                yield case("Resize", [f(2, 3, 9, 70), None, Const(scales, F)], 19, mode=mode, coordinate_transformation_mode=place)
            yield case("Resize", [f(2, 3, 9, 70), None, None, Const([2, 3, 14, 111], I)], 19, mode=mode, coordinate_transformation_mode=place)
        yield case("Resize", [f(2, 50), None, Const([1, 1.5], F)], 19, mode=mode)
        yield case("Resize", [f(1, 2, 5, 6, 37), None, Const([1, 1, 2, 0.5, 1.25], F)], 19, mode=mode)
    # Windows that are read an axis at a time.
    for options in [{}, {"pads": [2, 2, 2, 2]}, {"strides": [2, 3], "pads": [1, 0, 2, 1]}, {"dilations": [2, 1], "ceil_mode": 1, "strides": [2, 2]}]:
        yield case("MaxPool", [f(2, 3, 17, 19)], kernel_shape=[5, 7], **options)
    yield case("MaxPool", [f(1, 2, 9, 19)], kernel_shape=[1, 25], strides=[2, 1])
    # Lines of several vectors, of which the last is not whole, in planes that are padded.
    for shape in [(2, 3, 16, 37), (1, 5, 9, 64), (1, 2, 3, 15)]:
        yield case("MaxPool", [f(*shape)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        yield case("AveragePool", [f(*shape)], 19, kernel_shape=[3, 3], strides=[1, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    yield case("MaxPool", [f(1, 2, 7, 8, 9)], kernel_shape=[3, 3, 3], pads=[1] * 6, strides=[1, 2, 2])
    for shape in [(2, 33, 48), (2, 53, 37), (3, 12, 64), (1, 40, 24), (1, 8, 12)]:
        for dtype in (F, np.float16, np.int16, I, np.uint8):
            yield case("Transpose", [(50 * f(*shape, low=0)).astype(dtype)], perm=[0, 2, 1])
    # Pixels that come from several channels each.
    for mode in ("DCR", "CRD"):
        for side in (2, 3, 5):
            yield case("DepthToSpace", [f(2, 2 * side * side, 5, 16)], blocksize=side, mode=mode)
