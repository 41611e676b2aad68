"""Cases of operator sets 1 to 6, of which ONNX Runtime has few: by numpy."""

import numpy as np
from case import Case, F, f, i, ints


def early(opset, op, inputs, expected, **attributes):
    return Case(op, inputs, opset, attributes=attributes, expected=[np.asarray(value) for value in expected], outputs=len(expected))


def cases():
    x, y, row = f(2, 3, 4, 5), f(2, 3, 4, 5, seed=1), f(3, 4)
    for opset in (1, 6):
        for op, of in [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)]:
            yield early(opset, op, [x, y], [of(x, y)])
            yield early(opset, op, [x, row], [of(x, row[:, :, None])], broadcast=1, axis=1)
            yield early(opset, op, [x, f(5, low=1)], [of(x, f(5, low=1))], broadcast=1)
            yield early(opset, op, [x, f(2, 3)], [of(x, f(2, 3)[:, :, None, None])], broadcast=1, axis=-4)
        for op, of in [("Greater", np.greater), ("Less", np.less)]:
            yield early(opset, op, [x, f(3)], [of(x, f(3)[:, None, None])], broadcast=1, axis=1)
        yield early(opset, "Equal", [i(4, 5), i(4)], [i(4, 5) == i(4)[:, None]], broadcast=1, axis=0)
        yield early(opset, "Pow", [np.abs(x), f(3)], [np.abs(x) ** f(3)[:, None, None]], broadcast=1, axis=1)
        a, b = i(3, 4) > 2, i(3) > 1
        for op, of in [("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)]:
            yield early(opset, op, [a, b], [of(a, b[:, None])], broadcast=1, axis=0)
        for slope in (f(3), f(1)):
            yield early(opset, "PRelu", [x, slope], [np.where(x < 0, x * slope[:, None, None], x)])
        yield early(opset, "Gemm", [f(2, 3), f(3, 4), f(4)], [f(2, 3) @ f(3, 4) * F(0.5) + f(4)], broadcast=1, alpha=0.5)
        scale, bias, mean, variance = f(3), f(3, seed=1), f(3, seed=2), f(3, low=0.5, seed=3)
        by_channel = [value[:, None, None] for value in (scale, bias, mean, variance)]
        yield early(opset, "BatchNormalization", [x, scale, bias, mean, variance],
                    [(x - by_channel[2]) / np.sqrt(by_channel[3] + F(1e-3)) * by_channel[0] + by_channel[1]], is_test=1, epsilon=1e-3)
        own = [f(3, 4, 5, low=0.5, seed=seed) for seed in range(4)]
        yield early(opset, "BatchNormalization", [x, *own], [(x - own[2]) / np.sqrt(own[3] + F(1e-5)) * own[0] + own[1]], is_test=1, spatial=0)
        yield early(opset, "Dropout", [x], [x], is_test=1, ratio=0.7)
        yield early(opset, "Max", [x, y], [np.maximum(x, y)])
        yield early(opset, "Clip", [x], [np.clip(x, -1, None)], min=-1.0)
    # What was tried and dropped.
    for opset in (1, 9):
        yield early(opset, "Affine", [x], [x * F(0.5) + F(2)], alpha=0.5, beta=2.0)
        yield early(opset, "Scale", [x], [x * F(0.5)], scale=0.5)
        yield early(opset, "ScaledTanh", [x], [np.tanh(x * F(0.5)) * F(2)], alpha=2.0, beta=0.5)
        yield early(opset, "ParametricSoftplus", [x], [np.log1p(np.exp(x * F(0.5))) * F(2)], alpha=2.0, beta=0.5)
        yield early(opset, "ImageScaler", [x], [x * F(0.5) + np.array([1, 2, 3], F)[:, None, None]], scale=0.5, bias=[1.0, 2.0, 3.0])
        yield early(opset, "Crop", [x], [x[:, :, 1:2, 2:5]], border=[2, 1, 0, 2])
        yield early(opset, "Crop", [x], [x[:, :, 1:4, 2:4]], border=[2, 1, 0, 0], scale=[3, 2])
    # What is called or given otherwise in the first versions.
    wide, name = [0, 0, 1, 2, 0, 0, 0, 3], "constant"
    padded = np.pad(x, [(0, 0), (0, 0), (1, 0), (2, 3)], constant_values=0.5)
    yield early(1, "Pad", [x], [padded], paddings=wide, value=0.5, mode=name)
    yield early(2, "Pad", [x], [padded], pads=wide, value=0.5, mode=name)
    yield early(1, "Cast", [x], [x.astype(np.int32)], to="INT32")
    yield early(5, "Cast", [i(3, 4)], [i(3, 4).astype(F)], to="FLOAT")
    yield early(6, "Cast", [x], [x.astype(np.int64)], to=7)
    yield early(1, "Reshape", [x], [x.reshape(2, 12, 5)], shape=[0, -1, 5], consumed_inputs=[0])
    yield early(5, "Reshape", [x, ints(0, -1, 5)], [x.reshape(2, 12, 5)])
    yield early(1, "Concat", [x, y], [np.concatenate([x, y], 1)])
    yield early(4, "Concat", [x, y], [np.concatenate([x, y], 2)], axis=2)
    yield early(1, "Split", [x], [x[:, :, :1], x[:, :, 1:]], axis=2, split=[1, 3])
    yield early(1, "Split", [x, ints(1, 3)], [x[:, :, :1], x[:, :, 1:]], axis=2)
    yield early(2, "Split", [x], [x[:1], x[1:]])
    yield early(1, "Tile", [x, ints(3), ints(2)], [np.tile(x, (1, 1, 3, 1))])
    yield early(1, "Tile", [x, np.array([3]), ints(2)], [np.tile(x, (1, 1, 3, 1))])
    yield early(6, "Tile", [x, ints(1, 2, 1, 3)], [np.tile(x, (1, 2, 1, 3))])
    yield early(1, "Upsample", [x], [x.repeat(2, 2).repeat(3, 3)], height_scale=2.0, width_scale=3.0, mode="nearest")
    yield early(1, "GlobalLpPool", [x], [np.sqrt((x * x).sum((2, 3), keepdims=True))], p=2.0)
    yield early(1, "GlobalLpPool", [x], [np.abs(x).sum((2, 3), keepdims=True)], p=1.0)
    yield early(1, "Selu", [x], [np.where(x > 0, 1.0507 * x, 1.0507 * 1.6732 * np.expm1(np.minimum(x, 0))).astype(F)])
    yield early(1, "TopK", [f(4, 9)], [-np.sort(-f(4, 9))[:, :3], np.argsort(-f(4, 9))[:, :3]], k=3)
    yield early(1, "Slice", [x], [x[:, 1:3, :, -2:]], axes=[1, 3], starts=[1, -2], ends=[3, 100])
    yield early(1, "Squeeze", [f(2, 1, 3)], [f(2, 1, 3)[:, 0]], axes=[1])
    yield early(1, "Softmax", [x], [(lambda e: e / e.sum())(np.exp(x.astype(np.float64))).astype(F)], axis=0)
