"""Errors of long sums against float64, by kind of kernel and length, beside ONNX Runtime's and oneDNN's.

    python tests/fuzz/accuracy.py [PATTERN] [--most N] [--binary PATH] [--worst FACTOR]

Elements are of one sign, so that the sums are as large as their terms together. An error is the greatest one over the
greatest element of the result, in units of 2^-24. The exit status is 5 where generated code has more than FACTOR
times the error of ONNX Runtime or of oneDNN, whichever is less (and more than 4 units).
"""

import argparse
import math
import pathlib
import re
import sys
import tempfile

import numpy as np

from graph import session
from onnx import numpy_helper, parser
from server import Server, write

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONFIGS = {"ours": {"mode": "fused", "backend": "none", "threads": 1, "target": "native"}, "dnnl": {"mode": "fused", "backend": "dnnl", "threads": 1, "target": "native"}}
UNIT = 2.0**-24
LENGTHS = (10, 100, 1000, 7936, 10**4, 10**5, 10**6, 10**7)


def channels(n):
    """Of windows of 3 x 3 whose sums have n terms."""
    return max(n // 9, 1)


def side(n):
    """Of square windows of about n elements."""
    return math.isqrt(n)


def norm(x, epsilon=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def windows(x, w, stride=1):
    """A convolution of 3 x 3 windows, padded by one."""
    seen = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))[:, :, ::stride, ::stride]
    return np.tensordot(seen, w, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def channelwise(x, w):
    """A convolution each of whose channels has a window of its own."""
    seen = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    return np.einsum("bchwyx,cyx->bchw", seen, w[:, 0])


def kernels():
    """Name, shapes of the inputs for a length, graph, the result in float64, greatest length."""
    one = lambda n: [(3, n)]  # noqa: E731
    yield "sum of rows", one, "(float[3, n] x) => (float y) <int64[1] a = {-1}> { y = ReduceSum(x, a) }", lambda x: x.sum(-1, keepdims=True), 10**7
    yield "sum of columns", lambda n: [(n, 3)], "(float[n, 3] x) => (float y) <int64[1] a = {0}> { y = ReduceSum(x, a) }", lambda x: x.sum(0, keepdims=True), 10**7
    yield "sum of wide columns", lambda n: [(n, 64)], "(float[n, 64] x) => (float y) <int64[1] a = {0}> { y = ReduceSum(x, a) }", lambda x: x.sum(0, keepdims=True), 10**6
    yield "sum of all", lambda n: [(n,)], "(float[n] x) => (float y) { y = ReduceSum(x) }", lambda x: x.sum(keepdims=True), 10**7
    yield "mean", one, "(float[3, n] x) => (float y) { y = ReduceMean <axes: ints = [-1]> (x) }", lambda x: x.mean(-1, keepdims=True), 10**7
    yield "mean of squares", one, "(float[3, n] x) => (float y) { s = Mul(x, x) y = ReduceMean <axes: ints = [-1]> (s) }", lambda x: (x * x).mean(-1, keepdims=True), 10**7
    yield "L2 norm", one, "(float[3, n] x) => (float y) { y = ReduceL2 <axes: ints = [-1]> (x) }", lambda x: np.sqrt((x * x).sum(-1, keepdims=True)), 10**7
    yield "log of sum of exp", one, "(float[3, n] x) => (float y) { y = ReduceLogSumExp <axes: ints = [-1]> (x) }", lambda x: np.log(np.exp(x).sum(-1, keepdims=True)), 10**7
    yield "softmax", one, "(float[3, n] x) => (float y) { y = Softmax(x) }", softmax, 10**7
    yield "layer norm", lambda n: [(3, n), (n,)], "(float[3, n] x, float[n] s) => (float y) { y = LayerNormalization(x, s) }", lambda x, s: norm(x) * s, 10**7
    yield ("layer norm by hand", one, "(float[3, n] x) => (float y) <float e = {1e-5}> { m = ReduceMean <axes: ints = [-1]> (x) c = Sub(x, m) s = Mul(c, c) "
           "v = ReduceMean <axes: ints = [-1]> (s) w = Add(v, e) r = Sqrt(w) y = Div(c, r) }", norm, 10**7)
    yield ("layer norm of a large mean", lambda n: [(8, n), (n,)], "(float[8, n] z, float[n] s) => (float y) <float t = {3}> { x = Add(z, t) y = LayerNormalization(x, s) }",
           lambda x, s: norm((x + 3).astype(np.float32).astype(np.float64)) * s, 10**5)
    yield "global average pool", lambda n: [(1, 3, n, 1)], "(float[1, 3, n, 1] x) => (float y) { y = GlobalAveragePool(x) }", lambda x: x.mean((2, 3), keepdims=True), 10**7
    yield "running sum", one, "(float[3, n] x) => (float y) <int64 a = {1}> { y = CumSum(x, a) }", lambda x: x.cumsum(1), 10**7
    yield "product, 1 row", lambda n: [(1, n), (n, 8)], "(float[1, n] x, float[n, 8] w) => (float y) { y = MatMul(x, w) }", np.matmul, 10**7
    yield "product, 1 row of 512", lambda n: [(1, n), (n, 512)], "(float[1, n] x, float[n, 512] w) => (float y) { y = MatMul(x, w) }", np.matmul, 10**5
    yield "product, 64 rows", lambda n: [(64, n), (n, 64)], "(float[64, n] x, float[n, 64] w) => (float y) { y = MatMul(x, w) }", np.matmul, 10**6
    yield "product with a column", lambda n: [(4, n), (n, 1)], "(float[4, n] x, float[n, 1] w) => (float y) { y = MatMul(x, w) }", np.matmul, 10**7
    yield "scalar product", lambda n: [(n,), (n,)], '(float[n] x, float[n] w) => (float y) { y = Einsum <equation: string = "i,i->"> (x, w) }', lambda x, w: (x * w).sum(), 10**7
    yield ("convolution 1x1", lambda n: [(1, n, 4, 4), (8, n, 1, 1)], "(float[1, n, 4, 4] x, float[8, n, 1, 1] w) => (float y) { y = Conv(x, w) }",
           lambda x, w: np.einsum("bchw,oc->bohw", x, w[:, :, 0, 0]), 10**6)
    for size, pixels in ((32, 14), (24, 7)):
        for stride in (1, 2):
            yield (f"convolution 3x3/{stride} at {pixels}", lambda n, size=size, pixels=pixels: [(1, channels(n), pixels, pixels), (size, channels(n), 3, 3)],
                   f"(float[1, k, {pixels}, {pixels}] x, float[{size}, k, 3, 3] w) => (float y) {{ y = Conv <pads: ints = [1, 1, 1, 1], strides: ints = [{stride}, {stride}]> (x, w) }}",
                   lambda x, w, stride=stride: windows(x, w, stride), 20000)
    yield ("convolution 3x3, narrow", lambda n: [(1, channels(n), 20, 3), (17, channels(n), 3, 3)],
           "(float[1, k, 20, 3] x, float[17, k, 3, 3] w) => (float y) { y = Conv <pads: ints = [1, 0, 1, 0]> (x, w) }",
           lambda x, w: windows(x, w)[:, :, :, 1:2], 20000)
    yield ("convolution to a pixel", lambda n: [(1, channels(n), 3, 3), (96, channels(n), 3, 3)],
           "(float[1, k, 3, 3] x, float[96, k, 3, 3] w) => (float y) { y = Conv(x, w) }", lambda x, w: windows(x, w)[:, :, 1:2, 1:2], 20000)
    yield ("depthwise", lambda n: [(1, 32, side(n) + 27, side(n) + 27), (32, 1, side(n), side(n))],
           "(float[1, 32, p, p] x, float[32, 1, s, s] w) => (float y) { y = Conv <group: int = 32> (x, w) }", channelwise, 300)
    yield ("average pool", lambda n: [(1, 8, 2 * side(n), 2 * side(n))],
           "(float[1, 8, q, q] x) => (float y) { y = AveragePool <kernel_shape: ints = [s, s]> (x) }",
           lambda x: np.lib.stride_tricks.sliding_window_view(x, (x.shape[2] // 2,) * 2, (2, 3)).mean((4, 5)), 1000)
    yield "softmax of columns", lambda n: [(n, 9)], "(float[n, 9] x) => (float y) { y = Softmax <axis: int = 0> (x) }", lambda x: softmax(x.T).T, 10**6
    yield "mean of middle rows", lambda n: [(2, n, 3)], "(float[2, n, 3] x) => (float y) { y = ReduceMean <axes: ints = [1]> (x) }", lambda x: x.mean(1, keepdims=True), 10**6


def measure(result, expected):
    return float(np.abs(result.astype(np.float64) - expected).max() / np.abs(expected).max() / UNIT)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("pattern", nargs="?", default="")
    options.add_argument("--most", type=int, default=10**7, help="the greatest length")
    options.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "serve_networks")
    options.add_argument("--worst", type=float, default=float("inf"))
    arguments = options.parse_args()
    server, failed = Server(arguments.binary), False
    print(f"{'kernel':24}{'length':>10}{'ours':>10}{'dnnl':>10}{'ONNX Runtime':>14}")
    with tempfile.TemporaryDirectory() as scratch:
        for name, shapes, form, exact, most in kernels():
            for n in LENGTHS:
                if not re.search(arguments.pattern, name) or n > min(most, arguments.most):
                    continue
                rng = np.random.default_rng(n)
                text = form
                for letter, extent in (("n", n), ("k", channels(n)), ("s", side(n)), ("p", side(n) + 27), ("q", 2 * side(n))):
                    text = re.sub(rf"\b{letter}(?=[,\]])", str(extent), text)
                model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {text}')
                arrays = [rng.uniform(0, 1, shape).astype(np.float32) for shape in shapes(n)]
                if re.search("3x3|depthwise", name):  # constant weights are transformed and laid out
                    model.graph.initializer.append(numpy_helper.from_array(arrays[1], model.graph.input.pop().name))
                inputs = {value.name: array for value, array in zip(model.graph.input, arrays)}
                expected = exact(*[array.astype(np.float64) for array in arrays])
                write(pathlib.Path(scratch), model, [inputs])
                errors = {}
                for config, how in CONFIGS.items():
                    answer = server.run(how, model, [inputs], pathlib.Path(scratch))
                    errors[config] = answer if isinstance(answer, str) else measure(answer[0][0], expected)
                peer = measure(session(model).run(None, inputs)[0], expected)
                least = min([peer] + [error for error in errors.values() if not isinstance(error, str)][1:])
                bad = isinstance(errors["ours"], str) or errors["ours"] > max(4, arguments.worst * least)
                failed = failed or bad
                cells = [f"{e:10.1f}" if not isinstance(e, str) else f"{e[:40]:>10}" for e in errors.values()]
                print(f"{name:24}{n:>10}{''.join(cells)}{peer:14.1f}{'   WORSE' if bad else ''}", flush=True)
    server.stop()
    return 5 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
