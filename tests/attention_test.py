"""Attentions as exporters write them out, beside ONNX Runtime: each is one kernel, on machines of several vectors and caches.

    python tests/attention_test.py BINARY

An error is a part of the greatest value; more than 1e-5 fails.
"""

import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "networks"))

from builder import Builder  # noqa: E402

TOLERANCE = 1e-5
TARGETS = ["x86-64-v3", "llvm -mcpu=x86-64-v3 -l1-bytes=8192 -l2-bytes=65536", "native"]


def heads_of(b, x, heads, size):
    return b.op("Transpose", b.op("Reshape", x, b.ints(0, 0, heads, size)), perm=[0, 2, 1, 3])


def repeated(b, x, shared, times, length, size):
    """Each head `times` times, as exporters write it out."""
    wide = b.op("Expand", b.op("Unsqueeze", x, b.ints(2)), b.ints(1, shared, times, length, size))
    return b.op("Reshape", wide, b.ints(1, shared * times, length, size))


def added_triangle(b, scores, rows, keys):
    return b.op("Add", scores, b.constant(np.triu(np.full((1, 1, rows, keys), -np.inf, np.float32), 1 + keys - rows)))


def chosen_triangle(b, scores, rows, keys):
    seen = b.constant(np.tril(np.ones((1, 1, rows, keys), bool), keys - rows))
    return b.op("Where", seen, scores, b.scalar(np.finfo(np.float32).min))


def triangle_of_ranges(b, scores, rows, keys):
    """Of the lengths of the run."""
    shape = b.op("Shape", scores)
    length = b.op("Squeeze", b.op("Slice", shape, b.ints(3), b.ints(4), b.ints(0)))
    positions = b.op("Range", b.constant(np.array(0, np.int64)), length, b.constant(np.array(1, np.int64)))
    later = b.op("Greater", positions, b.op("Unsqueeze", positions, b.ints(1)))
    return b.op("Where", later, b.scalar(-np.inf), scores)


def mask_of_keys(b, scores, rows, keys):
    return b.op("Add", scores, b.input("mask", [1, 1, 1, keys]))


def mask_of_pairs(b, scores, rows, keys):
    return b.op("Add", scores, b.input("mask", [1, 1, rows, keys]))


def terms_of_image(b, scores, rows, keys):
    """Positions of pixels, as images that are cut into windows have them: a term for each row and one for each column."""
    height, width = rows // 10, keys // 10
    terms = [b.op("Unsqueeze", b.input(name, [2, height, 10, extent]), b.ints(axis)) for name, extent, axis in (("h", width, 4), ("w", 10, 3))]
    return b.op("Add", scores, b.op("Reshape", b.op("Add", *terms), b.ints(1, 2, rows, keys)))


def choice_of_pairs(b, scores, rows, keys):
    return b.op("Where", b.input("mask", [1, 1, rows, keys], TensorProto.BOOL), scores, b.scalar(-10000.0))


def number(b, value):
    """As torch exports what it masks and guards with: of one axis."""
    return b.constant(np.array([value], np.float32))


def guarded_choice(b, scores, rows, keys):
    """Rows some of which see nothing."""
    seen = b.op("And", b.input("mask", [1, 1, rows, keys], TensorProto.BOOL), b.constant(np.arange(rows).reshape(1, 1, rows, 1) % 3 != 0))
    return b.op("Add", scores, b.op("Where", seen, number(b, 0), number(b, -np.inf)))


def attention(heads, size, rows, keys=None, shared=None, mask=None, symbolic=False):
    keys, shared = keys or rows, shared or heads
    n, m = ("n", "n") if symbolic else (rows, keys)
    b = Builder(0, opset=17)
    q = heads_of(b, b.input("q", [1, n, heads * size]), heads, size)
    k = heads_of(b, b.input("k", [1, m, shared * size]), shared, size)
    v = heads_of(b, b.input("v", [1, m, shared * size]), shared, size)
    if shared != heads:
        k, v = (repeated(b, x, shared, heads // shared, keys, size) for x in (k, v))
    scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = b.op("Mul", scores, b.scalar(1 / math.sqrt(size)))
    if mask is not None:
        scores = mask(b, scores, n, m)
    weights = b.op("Softmax", scores, axis=-1)
    if mask is guarded_choice:
        weights = b.op("Where", b.op("IsNaN", weights), number(b, 0), weights)
    y = b.op("MatMul", weights, v)
    y = b.op("Reshape", b.op("Transpose", y, perm=[0, 2, 1, 3]), b.ints(0, 0, heads * size))
    b.output(y, "y", [1, n, heads * size])
    name = f"{heads}x{size}_{rows}_{keys}_{shared}_{mask.__name__ if mask else 'plain'}{'_symbolic' if symbolic else ''}"
    return name, b.model("attention"), rows


FORMS = [
    attention(3, 64, 128, mask=mask_of_keys), attention(2, 64, 197), attention(2, 64, 700), attention(2, 40, 600),
    attention(3, 7, 90), attention(2, 96, 130), attention(2, 80, 64, keys=333), attention(2, 16, 300, mask=added_triangle),
    attention(2, 32, 200, mask=chosen_triangle), attention(2, 32, 100, keys=260, mask=added_triangle),
    attention(2, 32, 150, mask=mask_of_pairs), attention(2, 32, 150, keys=77, mask=choice_of_pairs),
    attention(6, 32, 130, shared=2, mask=added_triangle), attention(2, 32, 100, symbolic=True),
    attention(2, 32, 150, mask=guarded_choice), attention(2, 24, 100, keys=530, mask=guarded_choice),
    attention(6, 32, 130, shared=1, mask=added_triangle), attention(3, 40, 70, keys=600, shared=1, mask=mask_of_pairs),
    attention(6, 64, 1, keys=300), attention(1, 32, 1, keys=700, mask=mask_of_keys),
    attention(2, 32, 190, mask=terms_of_image), attention(2, 48, 70, keys=900, mask=terms_of_image),
    attention(2, 40, 530, symbolic=True), attention(2, 32, 150, mask=triangle_of_ranges, symbolic=True),
]


def decode(heads, shared, size, keys):
    """One query a head, keys and values from a cache."""
    b = Builder(0, opset=17)
    q = b.input("q", [1, heads, 1, size])
    k, v = (repeated(b, b.input(name, [1, shared, keys, size]), shared, heads // shared, keys, size) for name in ("k", "v"))
    scores = b.op("Mul", b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2])), b.scalar(1 / math.sqrt(size)))
    y = b.op("MatMul", b.op("Softmax", mask_of_keys(b, scores, 1, keys), axis=-1), v)
    b.output(y, "y", [1, heads, 1, size])
    return f"decode_{heads}x{size}_{keys}_{shared}", b.model("attention"), 1


def open_decode(heads, shared, size, rows, keys, mask=None):
    """As many queries, and keys from a cache, as the run says: few of the rows that a tile has room for, or some more than a tile's."""
    b = Builder(0, opset=17)
    q = b.input("q", [1, heads, "s", size])
    k, v = (b.input(name, [1, shared, "t", size]) for name in ("k", "v"))
    if shared != heads:
        k, v = (b.op("Reshape", b.op("Expand", b.op("Unsqueeze", x, b.ints(2)), b.ints(1, 1, heads // shared, 1, 1)), b.ints(1, heads, -1, size)) for x in (k, v))
    scores = b.op("Mul", b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2])), b.scalar(1 / math.sqrt(size)))
    if mask is not None:
        scores = mask(b, scores, "s", "t")
    y = b.op("MatMul", b.op("Softmax", scores, axis=-1), v)
    b.output(b.op("Tanh", y), "y", [1, heads, "s", size])
    name = f"open_decode_{heads}x{size}_{rows}_{keys}_{shared}_{mask.__name__ if mask else 'plain'}"
    return name, b.model("attention"), {"s": rows, "t": keys}


FORMS += [decode(8, 2, 64, 300), decode(16, 2, 32, 1100)]
FORMS += [open_decode(4, 4, 64, rows, 70) for rows in (1, 2, 3, 4, 5, 33, 36)]
FORMS += [open_decode(8, 2, 64, 1, 700, mask_of_keys), open_decode(4, 4, 40, 3, 520, mask_of_pairs), open_decode(2, 2, 7, 1, 300), open_decode(2, 2, 32, 2, 1)]


def inputs_of(session, length):
    random = np.random.default_rng(1)
    inputs = {}
    for value in session.get_inputs():
        lengths = length if isinstance(length, dict) else dict.fromkeys(value.shape, length)
        shape = [dim if isinstance(dim, int) else lengths[dim] for dim in value.shape]
        numbers = random.standard_normal(shape).astype(np.float32)
        # Of the masks most is seen, some keys of each row by none.
        inputs[value.name] = numbers if value.type == "tensor(float)" else numbers < 1
    return inputs


def count_kernels(binary, path):
    command = [binary, "opt", path, "--pipeline", "graph", "--passes", "", "--backend", "none", "--no-spans", "--elide-constants", "0"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return text[text.index("def main"):].count("R.call_tir")


def check(binary, folder, name, model, length):
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    inputs = inputs_of(session, length)
    (expected,) = session.run(None, inputs)
    flags = []
    for key, value in inputs.items():
        np.save(folder / f"{key}.npy", value)
        flags += ["--input", f"{key}={folder / key}.npy"]
    problems = [] if count_kernels(binary, path) == 1 else [f"{count_kernels(binary, path)} kernels"]
    for target in TARGETS:
        command = [binary, "run", path, "--backend", "none", "--threads", "2", "--target", target, "--output-dir", folder, *flags]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            problems.append(f"{target}: {ran.stderr}")
            continue
        actual = np.load(folder / "y.npy")
        error = np.max(np.abs(actual - expected)) / np.max(np.abs(expected))
        if actual.shape != expected.shape or not error < TOLERANCE:
            problems.append(f"{target}: error {error}")
    print(f"{name:50}{'; '.join(problems) or 'good'}", flush=True)
    return bool(problems)


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(5 if sum(check(binary, pathlib.Path(folder), *form) for form in FORMS) else 0)


if __name__ == "__main__":
    main()
