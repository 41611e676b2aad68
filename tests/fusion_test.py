"""What fusion makes of networks: how many kernels are left, and that patterns written out in primitive operators are one,
which gives what ONNX Runtime does.

    python tests/fusion_test.py BINARY            asserts
    python tests/fusion_test.py BINARY --table    the table of BENCHMARKS.md, networks at full size
"""

import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "networks"))

import language  # noqa: E402
import make  # noqa: E402
from builder import Builder  # noqa: E402

# What is fused for: on one of many cores a few rows would rather be several kernels.
MACHINE = "llvm -mcpu=x86-64-v3 -threads=2"
BEYOND = ["SeparateOutputs", "FuseReductions", "FuseFollowers", "FuseSiblings", "RecomputeProducers"]
NETWORKS = ["resnet50", "mobilenetv2", "densenet121", "inceptionv1", "shufflenet", "squeezenet", "vgg19", "zfnet", "unet", "bert",
            "decoder", "lstm", "transformer"]


def reduce(b, op, x, axes, keep=True):
    """Axes are an attribute before opset 13 (ReduceSum) and 18 (the others), an input since."""
    if op == "ReduceSum" or b.opset >= 18:
        return b.op(op, x, b.ints(*axes), keepdims=int(keep))
    return b.op(op, x, axes=list(axes), keepdims=int(keep))


def softmax(b, x, shape, axes):
    e = b.op("Exp", b.op("Sub", x, reduce(b, "ReduceMax", x, axes)))
    return b.op("Div", e, reduce(b, "ReduceSum", e, axes))


def log_softmax(b, x, shape, axes):
    shifted = b.op("Sub", x, reduce(b, "ReduceMax", x, axes))
    return b.op("Sub", shifted, b.op("Log", reduce(b, "ReduceSum", b.op("Exp", shifted), axes)))


def log_sum_exp(b, x, shape, axes):
    high = reduce(b, "ReduceMax", x, axes)
    return b.op("Add", b.op("Log", reduce(b, "ReduceSum", b.op("Exp", b.op("Sub", x, high)), axes)), high)


def scale(b, shape, axes, mean=0.0):
    """Parameters as the norm has them: along what is reduced, by channel where that is everything else."""
    axes = [axis % len(shape) for axis in axes]
    sizes = [n if (i in axes and len(axes) == 1) or (i == 1 and len(axes) > 1) else 1 for i, n in enumerate(shape)]
    return b.normal(*sizes, scale=0.1, mean=mean)


def layer_norm(b, x, shape, axes, square=lambda b, x: b.op("Pow", x, b.scalar(2.0)), divide=True):
    centred = b.op("Sub", x, reduce(b, "ReduceMean", x, axes))
    variance = reduce(b, "ReduceMean", square(b, centred), axes)
    deviation = b.op("Sqrt", b.op("Add", variance, b.scalar(1e-5)))
    normal = b.op("Div", centred, deviation) if divide else b.op("Mul", centred, b.op("Reciprocal", deviation))
    return b.op("Add", b.op("Mul", normal, scale(b, shape, axes, 1.0)), scale(b, shape, axes))


def layer_norm_by_products(b, x, shape, axes):
    return layer_norm(b, x, shape, axes, lambda b, x: b.op("Mul", x, x), divide=False)


def layer_norm_of_squares(b, x, shape, axes):
    """The variance as the mean of squares less the square of the mean."""
    mean, squares = reduce(b, "ReduceMean", x, axes), reduce(b, "ReduceMean", b.op("Mul", x, x), axes)
    variance = b.op("Sub", squares, b.op("Mul", mean, mean))
    normal = b.op("Div", b.op("Sub", x, mean), b.op("Sqrt", b.op("Add", variance, b.scalar(1e-5))))
    return b.op("Mul", normal, scale(b, shape, axes, 1.0))


def rms_norm(b, x, shape, axes):
    mean = reduce(b, "ReduceMean", b.op("Mul", x, x), axes)
    factor = b.op("Div", b.scalar(1.0), b.op("Sqrt", b.op("Add", mean, b.scalar(1e-6))))
    return b.op("Mul", b.op("Mul", x, factor), scale(b, shape, axes, 1.0))


def standardize(b, x, shape, axes):
    """Sums divided by a count, the unbiased variance."""
    count = float(np.prod([shape[axis] for axis in axes]))
    mean = b.op("Div", reduce(b, "ReduceSum", x, axes), b.scalar(count))
    centred = b.op("Sub", x, mean)
    variance = b.op("Div", reduce(b, "ReduceSum", b.op("Mul", centred, centred), axes), b.scalar(count - 1))
    return b.op("Div", centred, b.op("Sqrt", variance))


def unit_length(b, x, shape, axes):
    return b.op("Div", x, b.op("Max", b.op("Sqrt", reduce(b, "ReduceSum", b.op("Mul", x, x), axes)), b.scalar(1e-12)))


def without_kept_dims(b, x, shape, axes):
    """The reduced dimension goes and comes back."""
    axis = axes[0] % len(shape)
    high = b.op("Unsqueeze", reduce(b, "ReduceMax", x, [axis], keep=False), b.ints(axis))
    e = b.op("Exp", b.op("Sub", x, high))
    return b.op("Div", e, b.op("Unsqueeze", reduce(b, "ReduceSum", e, [axis], keep=False), b.ints(axis)))


def residual_norm(b, x, shape, axes):
    """What comes before and after takes part."""
    return b.op("Sigmoid", layer_norm(b, b.op("Add", x, b.op("Tanh", x)), shape, axes))


ROWS = [softmax, log_softmax, log_sum_exp, layer_norm, layer_norm_by_products, layer_norm_of_squares, rms_norm, standardize, unit_length,
        without_kept_dims, residual_norm]
LAST = [[64, 64], [3, 5, 100], ["n", 48], [1, 17], [2, 3, 4, 5], ["batch", "rows", 130]]
# Over channels, over the rows of a matrix, in the middle: neighbouring rows are done together. The widths leave a rest, need
# several vectors, are symbolic, and put the elements of a row into few sets of the cache.
STRIDED = [([2, 24, 9, 7], [1]), ([33, 70], [0]), ([2, 16, 5, 12], [2]), (["n", 32, "h", "w"], [1]), ([1, 200, 32, 32], [1]), ([2, 3, 1], [1])]
# Statistics of a batch, of an image, of whole channels: rows of several stretches.
STRETCHES = [([6, 8, 5, 7], [0, 2, 3]), ([4, 3, 20, 20], [2, 3]), (["n", 6, 10, 10], [0, 2, 3]), ([5, 1, 64], [0, 2])]


def gelu_erf(b, x):
    return language._gelu(b, x)


def gelu_tanh(b, x):
    cube = b.op("Mul", b.op("Mul", x, x), x)
    inner = b.op("Mul", b.op("Add", x, b.op("Mul", cube, b.scalar(0.044715))), b.scalar(math.sqrt(2 / math.pi)))
    return b.op("Mul", b.op("Mul", x, b.scalar(0.5)), b.op("Add", b.op("Tanh", inner), b.scalar(1.0)))


def silu(b, x):
    return b.op("Mul", x, b.op("Sigmoid", x))


def silu_of_exp(b, x):
    return b.op("Div", x, b.op("Add", b.op("Exp", b.op("Neg", x)), b.scalar(1.0)))


def hard_swish(b, x):
    inner = b.op("Clip", b.op("Add", x, b.scalar(3.0)), b.scalar(0.0), b.scalar(6.0))
    return b.op("Div", b.op("Mul", x, inner), b.scalar(6.0))


def hard_swish_by_sigmoid(b, x):
    return b.op("Mul", x, b.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))


def mish(b, x):
    return b.op("Mul", x, b.op("Tanh", b.op("Softplus", x)))


def selu(b, x):
    negative = b.op("Mul", b.op("Sub", b.op("Exp", b.op("Min", x, b.scalar(0.0))), b.scalar(1.0)), b.scalar(1.6733))
    return b.op("Mul", b.op("Where", b.op("Greater", x, b.scalar(0.0)), x, negative), b.scalar(1.0507))


POINTWISE = [gelu_erf, gelu_tanh, silu, silu_of_exp, hard_swish, hard_swish_by_sigmoid, mish, selu]


def row_pattern(build, shape, axes, opset=13):
    b = Builder(0, opset=opset)
    y = build(b, b.input("x", shape), shape, axes)
    reduced = [axis % len(shape) for axis in axes]
    b.output(y, "y", [1 if i in reduced else n for i, n in enumerate(shape)] if build is log_sum_exp else shape)
    return b.model(build.__name__)


def row_patterns():
    def fits(build, shape, axes):
        if build is without_kept_dims and len(axes) > 1:
            return False
        # What is a parameter, or a count, has to be known.
        known = [isinstance(shape[axis], int) for axis in axes]
        if build is standardize:
            return all(known) and np.prod([shape[axis] for axis in axes]) > 1
        return len(axes) > 1 or all(known)

    for build in ROWS:
        yield from (row_pattern(build, shape, [-1]) for shape in LAST if fits(build, shape, [-1]))
        yield from (row_pattern(build, shape, axes, 18) for shape, axes in STRIDED + STRETCHES if fits(build, shape, axes))


def pointwise_patterns():
    for build in POINTWISE:
        for shape in ([7, 33], ["n", 3, 40]):
            b = Builder(0, opset=17)
            b.output(build(b, b.input("x", shape)), "y", shape)
            yield b.model(build.__name__)


def group_norm(batch, channels, height, width, groups):
    b = Builder(0, opset=13)
    y = b.op("Reshape", b.input("x", [batch, channels, height, width]), b.ints(batch, groups, -1))
    centred = b.op("Sub", y, reduce(b, "ReduceMean", y, [-1]))
    variance = reduce(b, "ReduceMean", b.op("Mul", centred, centred), [-1])
    normal = b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, b.scalar(1e-5))))
    normal = b.op("Reshape", normal, b.ints(batch, channels, height, width))
    b.output(b.op("Add", b.op("Mul", normal, b.normal(channels, 1, 1)), b.normal(channels, 1, 1)), "y",
             [batch, channels, height, width])
    return b.model("group_norm")


def group_norm_by_operator(batch, channels, height, width, groups):
    """As PyTorch exports it, and SiLU after it."""
    b = Builder(0, opset=17)
    y = b.op("Reshape", b.input("x", [batch, channels, height, width]), b.ints(batch, groups, -1))
    y = b.op("InstanceNormalization", y, b.constant(np.ones(groups, np.float32)), b.constant(np.zeros(groups, np.float32)))
    y = b.op("Reshape", y, b.ints(batch, channels, height, width))
    y = b.op("Add", b.op("Mul", y, b.normal(channels, 1, 1)), b.normal(channels, 1, 1))
    b.output(silu(b, y), "y", [batch, channels, height, width])
    return b.model("group_norm_by_operator")


def layer_norm_by_operator(shape):
    """Between residual connections: what is normalised is used again."""
    b = Builder(0, opset=17)
    x = b.input("x", shape)
    total = b.op("Add", x, b.op("Tanh", x))
    normal = b.op("LayerNormalization", total, b.normal(shape[-1], mean=1.0), b.normal(shape[-1]))
    b.output(b.op("Add", b.op("Relu", normal), total), "y", shape)
    return b.model("layer_norm_by_operator")


def conv_block():
    b = Builder(0, opset=13)
    y = b.op("Conv", b.input("x", [1, 8, 12, 12]), b.weight(16, 8, 3, 3, fan_in=72), pads=[1] * 4)
    statistics = [b.normal(16, mean=1.0), b.normal(16), b.normal(16), b.constant(np.linspace(0.5, 2, 16, dtype=np.float32))]
    b.output(b.op("Relu", b.op("BatchNormalization", y, *statistics)), "y", [1, 16, 12, 12])
    return b.model("conv_block")


def branches():
    return onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]> branches (float[4, 8] x, bool c) => (float[4, 8] y) {
      y = If (c) <then_branch = t () => (float[4, 8] a) { s = Exp (x)  r = Add (s, x)  a = Sqrt (r) },
                  else_branch = e () => (float[4, 8] b) { u = Tanh (x)  b = Mul (u, x) }> }""")


def count_kernels(binary, model, *flags):
    """Calls of kernels in what the graph passes give."""
    command = [binary, "opt", model, "--pipeline", "graph", "--passes", "", "--backend", "none", "--no-spans"]
    command += ["--target", MACHINE, "--elide-constants", "0", *flags]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return text[text.index("def main"):].count("R.call_tir")


def gathers_channels(binary, path):
    """Whether the lanes of a vector lie in several channels: a factor a channel would be gathered."""
    command = [binary, "opt", path, "--pipeline", "graph", "--passes", "ScheduleForCPU", "--target", MACHINE,
               "--elide-constants", "0"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lanes = re.findall(r"for (\w+) in T\.vectorized", text)
    return not lanes or any(re.search(rf"v_ax1 = .*\b{lane}\b", text) for lane in lanes)


def without_beyond():
    return [flag for name in BEYOND for flag in ("--disable-pass", name)]


def symbols_as(value, shape):
    return [n if isinstance(n, int) else value for n in shape]


def agrees(binary, path, folder):
    """Whether the compiled model gives what ONNX Runtime does; symbolic dimensions are 5."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(1).standard_normal(symbols_as(5, session.get_inputs()[0].shape)).astype(np.float32)
    np.save(folder / "x.npy", x)
    command = [binary, "run", path, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder, "--threads", "2"]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        return ran.stderr
    (expected,), actual = session.run(None, {"x": x}), np.load(folder / "y.npy")
    error = np.max(np.abs(actual - expected)) / max(np.max(np.abs(expected)), 1e-6)
    return "" if actual.shape == expected.shape and error < 2e-5 else f"error {error}"


def check_pattern(binary, folder, index, model):
    path = folder / f"{model.graph.name}_{index}.onnx"
    onnx.save(model, path)
    kernels = count_kernels(binary, path)
    difference = agrees(binary, path, folder)
    # Symbolic dimensions are 1 here, and every pass is looked at; a few are enough.
    verified = index % 4 != 0 or subprocess.run([binary, "verify", path, "--threads", "2"], capture_output=True).returncode == 0
    if kernels == 1 and not difference and verified:
        return 0
    shape = [d.dim_param or d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    print(f"{path.name} {shape}: {kernels} kernels; {difference}{'' if verified else '; verify fails'}")
    return 1


def check_patterns(binary, folder):
    models = [*row_patterns(), *pointwise_patterns(), group_norm(2, 6, 4, 5, 3), group_norm(1, 32, 8, 8, 8),
              group_norm_by_operator(2, 6, 4, 5, 3), group_norm_by_operator(1, 32, 8, 8, 8), layer_norm_by_operator([12, 65]),
              layer_norm_by_operator(["n", 3, 128])]
    failures = sum(check_pattern(binary, folder, index, model) for index, model in enumerate(models))
    path = folder / "conv_block.onnx"
    onnx.save(conv_block(), path)
    for flags in [(), ("--disable-pass", "FoldBatchnormToConv2D")]:
        if count_kernels(binary, path, *flags) != 1:
            failures += 1
            print(f"conv, batch norm, relu {flags}: {count_kernels(binary, path, *flags)} kernels")
    path = folder / "branches.onnx"
    onnx.save(branches(), path)
    if count_kernels(binary, path) != 2:
        failures += 1
        print(f"two branches: {count_kernels(binary, path)} kernels")
    path = folder / "channels.onnx"
    onnx.save(group_norm(2, 6, 4, 5, 3), path)
    if gathers_channels(binary, path):
        failures += 1
        print("group norm: the vectors of the last stage lie in several channels")
    print(f"{len(models) + 4} patterns, {failures} failed")
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
