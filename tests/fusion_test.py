"""What fusion makes of networks: how many kernels are left, and that patterns written out in primitive operators are one.

    python tests/fusion_test.py BINARY            asserts
    python tests/fusion_test.py BINARY --table    the table of BENCHMARKS.md, networks at full size
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "networks"))

import language  # noqa: E402
import make  # noqa: E402
from builder import Builder  # noqa: E402

BEYOND = ["SeparateOutputs", "FuseReductions", "FuseSiblings", "RecomputeProducers"]
NETWORKS = ["resnet50", "mobilenetv2", "densenet121", "inceptionv1", "shufflenet", "squeezenet", "vgg19", "zfnet", "unet", "bert",
            "decoder", "lstm", "transformer"]


def reduce(b, op, x, axis=-1):
    if op == "ReduceSum":
        return b.op(op, x, b.ints(axis), keepdims=1)
    return b.op(op, x, axes=[axis], keepdims=1)


def softmax(b, x, _):
    e = b.op("Exp", b.op("Sub", x, reduce(b, "ReduceMax", x)))
    return b.op("Div", e, reduce(b, "ReduceSum", e))


def log_softmax(b, x, _):
    shifted = b.op("Sub", x, reduce(b, "ReduceMax", x))
    return b.op("Sub", shifted, b.op("Log", reduce(b, "ReduceSum", b.op("Exp", shifted))))


def log_sum_exp(b, x, _):
    high = reduce(b, "ReduceMax", x)
    return b.op("Add", b.op("Log", reduce(b, "ReduceSum", b.op("Exp", b.op("Sub", x, high)))), high)


def layer_norm(b, x, width):
    return language._layer_norm(b, x, width)


def layer_norm_of_squares(b, x, width):
    """The variance as the mean of squares less the square of the mean."""
    mean, squares = reduce(b, "ReduceMean", x), reduce(b, "ReduceMean", b.op("Mul", x, x))
    variance = b.op("Sub", squares, b.op("Mul", mean, mean))
    normal = b.op("Div", b.op("Sub", x, mean), b.op("Sqrt", b.op("Add", variance, b.scalar(1e-5))))
    return b.op("Mul", normal, b.normal(width, mean=1.0))


def rms_norm(b, x, width):
    return language._rms_norm(b, x, width)


def residual_norm(b, x, width):
    """What comes before and after takes part."""
    y = b.op("Add", x, b.op("Tanh", x))
    return b.op("Sigmoid", language._layer_norm(b, y, width))


PATTERNS = [softmax, log_softmax, log_sum_exp, layer_norm, layer_norm_of_squares, rms_norm, residual_norm]
SHAPES = [[64, 64], [3, 5, 100], ["n", 48], [1, 17], [2, 3, 4, 5], ["batch", "rows", 130]]


def pattern(build, shape):
    b = Builder(0, opset=13)
    y = build(b, b.input("x", shape), shape[-1])
    b.output(y, "y", shape[:-1] + [1] if build is log_sum_exp else shape)
    return b.model(build.__name__)


def group_norm(batch, channels, height, width, groups):
    b = Builder(0, opset=13)
    y = b.op("Reshape", b.input("x", [batch, channels, height, width]), b.ints(batch, groups, -1))
    centred = b.op("Sub", y, reduce(b, "ReduceMean", y))
    variance = reduce(b, "ReduceMean", b.op("Mul", centred, centred))
    normal = b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, b.scalar(1e-5))))
    normal = b.op("Reshape", normal, b.ints(batch, channels, height, width))
    b.output(b.op("Add", b.op("Mul", normal, b.normal(channels, 1, 1)), b.normal(channels, 1, 1)), "y",
             [batch, channels, height, width])
    return b.model("group_norm")


def conv_block():
    b = Builder(0, opset=13)
    y = b.op("Conv", b.input("x", [1, 8, 12, 12]), b.weight(16, 8, 3, 3, fan_in=72), pads=[1] * 4)
    statistics = [b.normal(16, mean=1.0), b.normal(16), b.normal(16), b.constant(np.linspace(0.5, 2, 16, dtype=np.float32))]
    b.output(b.op("Relu", b.op("BatchNormalization", y, *statistics)), "y", [1, 16, 12, 12])
    return b.model("conv_block")


def count_kernels(binary, model, *flags):
    """Calls of kernels in what the graph passes give."""
    command = [binary, "opt", model, "--pipeline", "graph", "--passes", "", "--no-spans", "--elide-constants", "0", *flags]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return text[text.index("def main"):].count("R.call_tir")


def without_beyond():
    return [flag for name in BEYOND for flag in ("--disable-pass", name)]


def check_patterns(binary, folder):
    failures = 0
    models = [pattern(build, shape) for build in PATTERNS for shape in SHAPES]
    models += [group_norm(2, 6, 4, 5, 3), group_norm(1, 32, 8, 8, 8)]
    for index, model in enumerate(models):
        path = folder / f"{model.graph.name}_{index}.onnx"
        onnx.save(model, path)
        kernels = count_kernels(binary, path)
        verified = subprocess.run([binary, "verify", path, "--threads", "2"], capture_output=True, text=True)
        good = kernels == 1 and verified.returncode == 0
        failures += not good
        if not good:
            print(f"{path.name}: {kernels} kernels; verify: {verified.stdout[-200:]}{verified.stderr}")
    path = folder / "conv_block.onnx"
    onnx.save(conv_block(), path)
    for flags in [(), ("--disable-pass", "FoldBatchnormToConv2D")]:
        if count_kernels(binary, path, *flags) != 1:
            failures += 1
            print(f"conv, batch norm, relu {flags}: {count_kernels(binary, path, *flags)} kernels")
    print(f"{len(models) + 2} patterns, {failures} failed")
    return failures


def check_networks(binary, folder, size="small"):
    failures = 0
    print(f"{'network':16}{'operators':>10}{'FuseOps':>9}{'and beyond':>12}")
    for name in NETWORKS:
        path = folder / f"{name}.onnx"
        onnx.save(make.make(name, size), path)
        plain = count_kernels(binary, path, "--no-fuse")
        fused = count_kernels(binary, path, *without_beyond())
        beyond = count_kernels(binary, path)
        # Three kernels of every written-out layer norm become one; an RMS norm of two does.
        saved = {"bert": 10, "decoder": 2, "transformer": 4}.get(name, 0) if size == "small" else 0
        good = beyond <= fused - saved and fused < plain
        failures += not good
        print(f"{name:16}{plain:>10}{fused:>9}{beyond:>12}{'' if good else '   FAILED'}", flush=True)
    return failures


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if "--table" in sys.argv:
            sys.exit(check_networks(binary, folder, "full") != 0)
        sys.exit(5 if check_patterns(binary, folder) + check_networks(binary, folder) else 0)


if __name__ == "__main__":
    main()
