"""Networks of open batch and sizes on one, two and five threads: whatever the sizes, each result is ONNX Runtime's, and that of one thread.

    python tests/onnx/open_sizes.py [PATTERN] [--binary PATH]

How a kernel is cut into pieces depends on the threads and on sizes that are assumed where the run tells them, so that what is wrong may be wrong on
some threads and at some sizes only. Small networks of random weights, each compiled once for so many threads and run at sizes of 1, odd, prime, powers
of two and those around multiples of tiles. The exit status is 5 where one differs.
"""

import argparse
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnxruntime

from compare import ROOT, TOLERANCE, difference, random_inputs

sys.path[:0] = [str(ROOT / "tests" / "networks"), str(ROOT / "tests" / "fuzz")]
from builder import Builder  # noqa: E402
from server import Server, write  # noqa: E402

# Threads, and what is compiled for.
MACHINES = [(1, "native"), (2, "native"), (5, "native"), (2, "llvm -mcpu=x86-64-v3 -threads=2")]
# As a share of the greatest element: more threads may add up in another order.
BETWEEN_THREADS = 5e-6
IMAGES = [(1, 1, 1), (1, 7, 13), (3, 16, 16), (1, 33, 64), (3, 31, 5), (1, 64, 17)]
# Behind five steps of two these are few tiles.
LARGE_IMAGES = [(1, 1, 1), (1, 37, 64), (1, 128, 64), (3, 97, 160), (1, 224, 300)]
ROWS = [(1, 1), (1, 31), (3, 17), (1, 64), (3, 128), (1, 131)]


def image(b, channels):
    return b.input("x", ["n", channels, "h", "w"])


def winograd(b):
    """Convolutions of 3 by 3 in a row, with a sum around two of them."""
    x = b.relu(b.conv(image(b, 3), 3, 32, 3))
    y = b.conv(b.relu(b.conv(x, 32, 32, 3)), 32, 32, 3)
    return b.relu(b.conv(b.op("Add", x, y), 32, 64, 3))


def few_tiles(b):
    """Convolutions of 3 by 3 with many channels over what steps leave of an image: threads share the channels."""
    x = b.relu(b.conv(image(b, 3), 3, 16, 7, stride=2))
    x = b.max_pool(x, 3, 2, pad=1)
    for inputs, outputs in [(16, 32), (32, 64), (64, 64)]:
        x = b.relu(b.conv(x, inputs, outputs, 3, stride=2))
    return b.conv(b.relu(b.conv(x, 64, 256, 3)), 256, 256, 3)


def pointwise(b):
    x = image(b, 24)
    y = b.conv(b.relu(b.conv(x, 24, 96, 1)), 96, 24, 1)
    return b.conv(b.relu(b.op("Add", x, y)), 24, 50, 1, stride=2)


def depthwise(b):
    x = b.relu(b.conv(image(b, 3), 3, 16, 3, stride=2))
    for stride, kernel in [(1, 3), (2, 3), (1, 5)]:
        y = b.op("HardSwish", b.conv(x, 16, 64, 1))
        y = b.op("HardSwish", b.conv(y, 64, 64, kernel, stride=stride, groups=64))
        y = b.conv(y, 64, 16, 1)
        x = b.op("Add", x, y) if stride == 1 else y
    return x


def strided(b):
    x = b.relu(b.conv(image(b, 3), 3, 20, 7, stride=2))
    y = b.op("Add", b.conv(b.relu(b.conv(x, 20, 40, 3, stride=2)), 40, 40, 3), b.conv(x, 20, 40, 1, stride=2))
    return b.conv(b.conv(y, 40, 40, (1, 5), groups=4), 40, 24, 3, dilation=2)


def pooled(b):
    x = b.relu(b.conv(image(b, 3), 3, 16, 3))
    x = b.op("Concat", b.max_pool(x, 3, 1, pad=1), b.average_pool(x, 3, 1, pad=1), b.conv(x, 16, 8, 1), axis=1)
    gate = b.op("Sigmoid", b.conv(b.op("GlobalAveragePool", x), 40, 40, 1))
    return b.classifier(b.max_pool(b.op("Mul", x, gate), 3, 2, pad=1), 40, 10)


def resized(b):
    """Down and up again, as networks that label pixels do."""
    x = b.relu(b.conv(image(b, 3), 3, 16, 3))
    low = b.relu(b.conv(x, 16, 32, 3, stride=2))
    size = b.op("Shape", x, start=2, end=4)
    for mode, more in [("nearest", {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
                       ("linear", {"coordinate_transformation_mode": "half_pixel"})]:
        sizes = b.op("Concat", b.op("Shape", low, end=2), size, axis=0)
        up = b.op("Resize", low, "", "", sizes, mode=mode, **more)
        x = b.conv(b.op("Concat", x, up, axis=1), 48, 16, 3)
    doubled = b.op("ConvTranspose", x, b.weight(16, 8, 2, 2, fan_in=16), kernel_shape=[2, 2], strides=[2, 2])
    return b.op("Resize", doubled, "", b.constant(np.array([1, 1, 1.5, 2], np.float32), "scales"), mode="nearest")


def normalised(b):
    x = b.conv(image(b, 3), 3, 32, 3)
    x = b.op("InstanceNormalization", x, b.normal(32, mean=1, scale=0.1), b.normal(32, scale=0.1))
    x = b.op("Transpose", b.op("Mul", x, b.op("Sigmoid", x)), perm=[0, 2, 3, 1])
    x = b.op("LayerNormalization", x, b.normal(32, mean=1, scale=0.1), b.normal(32, scale=0.1), axis=-1)
    return b.op("Softmax", b.op("Transpose", b.linear(x, 32, 20), perm=[0, 3, 1, 2]), axis=3)


def sequence(b, width):
    return b.input("x", ["n", "length", width])


def attention(b):
    """Two layers of four heads over sequences of open length."""
    x = sequence(b, 64)
    for _ in range(2):
        normal = b.op("LayerNormalization", x, b.normal(64, mean=1, scale=0.1), b.normal(64, scale=0.1), axis=-1)
        heads = [b.op("Transpose", b.op("Reshape", b.linear(normal, 64, 64), b.ints(0, 0, 4, 16)), perm=perm)
                 for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
        scores = b.op("Softmax", b.op("Mul", b.op("MatMul", heads[0], heads[1]), b.scalar(0.25)), axis=-1)
        mixed = b.op("Reshape", b.op("Transpose", b.op("MatMul", scores, heads[2]), perm=[0, 2, 1, 3]), b.ints(0, 0, 64))
        x = b.op("Add", x, b.linear(mixed, 64, 64))
        x = b.op("Add", x, b.linear(gelu(b, b.linear(x, 64, 192)), 192, 64))
    return x


def gelu(b, x):
    erf = b.op("Erf", b.op("Div", x, b.scalar(2 ** 0.5)))
    return b.op("Mul", b.op("Mul", x, b.op("Add", erf, b.scalar(1.0))), b.scalar(0.5))


def perceptron(b):
    x = gelu(b, b.linear(sequence(b, 40), 40, 300))
    return b.linear(b.op("Tanh", b.linear(x, 300, 130)), 130, 7)


def reductions(b):
    """Over the axes whose lengths the run tells."""
    x = b.linear(sequence(b, 24), 24, 48)
    mean = b.op("ReduceMean", x, axes=[1], keepdims=1)
    deviation = b.op("Sqrt", b.op("ReduceMean", b.op("Mul", *[b.op("Sub", x, mean)] * 2), axes=[1], keepdims=1))
    scaled = b.op("Div", b.op("Sub", x, mean), b.op("Add", deviation, b.scalar(0.1)))
    products = b.op("MatMul", b.op("Transpose", scaled, perm=[0, 2, 1]), b.op("Softmax", scaled, axis=1))
    return b.op("Add", b.op("ReduceMax", scaled, axes=[1], keepdims=1), products)


def wave(b):
    """Convolutions of one dimension, and a recurrence."""
    x = b.op("Transpose", sequence(b, 16), perm=[0, 2, 1])
    for stride, kernel in [(1, 5), (2, 3)]:
        pad = kernel // 2
        x = b.relu(b.op("Conv", x, b.weight(32, 16 if stride == 1 else 32, kernel, fan_in=16 * kernel), pads=[pad, pad], strides=[stride]))
    x = b.op("Transpose", x, perm=[2, 0, 1])
    weights = [b.weight(1, 80, width, fan_in=width) for width in (32, 20)]
    return b.op("LSTM", x, *weights, outputs=3, hidden_size=20)[0]


def recurrent(b):
    x = b.op("Transpose", sequence(b, 16), perm=[1, 0, 2])
    for layer, gates in [("GRU", 3), ("LSTM", 4)]:
        width = 16 if layer == "GRU" else 48
        weights = [b.weight(2, gates * 24, columns, fan_in=columns) for columns in (width, 24)]
        x, last, *_ = b.op(layer, x, *weights, b.weight(2, 2 * gates * 24, fan_in=24), outputs=2, hidden_size=24, direction="bidirectional")
        x = b.op("Reshape", b.op("Transpose", x, perm=[0, 2, 1, 3]), b.ints(0, 0, 48))
    return b.op("Add", b.op("Transpose", x, perm=[1, 0, 2]), b.op("Reshape", b.op("Transpose", last, perm=[1, 0, 2]), b.ints(-1, 1, 48)))



NETWORKS = {winograd: IMAGES, few_tiles: LARGE_IMAGES, pointwise: IMAGES, depthwise: IMAGES, strided: IMAGES, pooled: IMAGES, resized: IMAGES,
            normalised: IMAGES, attention: ROWS, perceptron: ROWS, reductions: ROWS, wave: ROWS, recurrent: ROWS}


def problems(server, folder, network, sizes):
    """What is wrong on some threads at some sizes, and the worst differences: from ONNX Runtime, from one thread."""
    b = Builder(opset=17)
    b.output(network(b), "y")
    model = b.model(network.__name__, check=False)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = ("n", "length") if len(sizes[0]) == 2 else ("n", "h", "w")
    feeds = [random_inputs(session, dict(zip(names, world)), seed) for seed, world in enumerate(sizes)]
    write(folder, model, feeds)
    expected = [session.run(None, feed)[0] for feed in feeds]
    found, worst, alone = [], [0.0, 0.0], None
    for threads, target in MACHINES:
        results = server.run({"mode": "fused", "backend": "none", "threads": threads, "target": target}, model, feeds, folder)
        if isinstance(results, str):
            return [f"{threads} threads, {target}: {results}"], worst
        alone = alone or results
        for world, result, reference, first in zip(sizes, results, expected, alone):
            for which, other, tolerance in [(0, reference, TOLERANCE), (1, first[0], BETWEEN_THREADS)]:
                error = difference(result[0], other)
                if isinstance(error, str) or error > tolerance:
                    found.append(f"{threads} threads, {target}, {dict(zip(names, world))}: {error} from {['ONNX Runtime', 'one thread'][which]}")
                else:
                    worst[which] = max(worst[which], error)
    return found, worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "serve_networks")
    arguments = parser.parse_args()
    server, failures = Server(arguments.binary), 0
    print(f"{'network':16}sizes   from ONNX Runtime   from one thread")
    with tempfile.TemporaryDirectory() as folder:
        for network, sizes in NETWORKS.items():
            if not re.search(arguments.pattern, network.__name__):
                continue
            found, (reference, alone) = problems(server, pathlib.Path(folder), network, sizes)
            failures += bool(found)
            print(f"{network.__name__:16}{len(sizes):5}{reference:20.1e}{alone:18.1e}", *(f"FAILED {text}" for text in found), sep="\n  ", flush=True)
    server.stop()
    print(f"{failures} of {len(NETWORKS)} networks differ")
    sys.exit(5 if failures else 0)


if __name__ == "__main__":
    main()
