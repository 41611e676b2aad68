"""Runs the test networks through `deuteron run` and ONNX Runtime on the same inputs and prints a table.

    python tests/onnx/compare.py [NAME...] [--size small|full] [--light] [--symbolic] [--backend B] [--binary PATH] [--keep DIR]

Agreement: max |difference| <= 1e-4 x max |reference|, NaN and infinities where the reference has them. The exit
status is 5 where a network differs or fails.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "networks"))
import light  # noqa: E402
import make  # noqa: E402

TOLERANCE = 1e-4
BATCHES = (1, 2, 7)
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_,
         "tensor(double)": np.float64, "tensor(float16)": np.float16}


def file_name(name):
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)


def random_inputs(session, sizes, seed=0):
    """Inputs of a session; `sizes` gives its symbolic dimensions."""
    random = np.random.default_rng(seed)
    feed = {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else sizes.get(d, 1) for d in value.shape]
        dtype = TYPES[value.type]
        if dtype == np.bool_ or "mask" in value.name:
            feed[value.name] = random.integers(0, 2, shape).astype(dtype)
        elif np.issubdtype(dtype, np.integer):
            feed[value.name] = random.integers(0, 50, shape).astype(dtype)
        else:
            feed[value.name] = random.standard_normal(shape).astype(dtype)
    return feed


def difference(result, reference):
    """max |difference| / max |reference| over the finite elements, or a reason why they cannot be compared."""
    if result.dtype != reference.dtype or result.shape != reference.shape:
        return f"{result.dtype}{list(result.shape)} instead of {reference.dtype}{list(reference.shape)}"
    if reference.dtype.kind != "f":
        return 0.0 if np.array_equal(result, reference) else f"{int((result != reference).sum())} elements differ"
    result, reference = result.astype(np.float64), reference.astype(np.float64)
    if not np.array_equal(np.isnan(result), np.isnan(reference)):
        return "NaN at different places"
    infinite = np.isinf(reference)
    if not np.array_equal(np.isinf(result), infinite) or not np.array_equal(result[infinite], reference[infinite]):
        return "infinities at different places"
    finite = np.isfinite(reference)
    if not finite.any():
        return 0.0
    scale = np.abs(reference[finite]).max()
    error = np.abs(result[finite] - reference[finite]).max()
    return float(error / scale) if scale > 0 else float(error)


def run(command, model, feed, folder):
    """The command's outputs by file name, or its message."""
    arguments = [*command, str(model), "--output-dir", str(folder / "out"), "--progress", "none"]
    for index, (name, array) in enumerate(feed.items()):
        np.save(folder / f"{index}.npy", array)
        arguments += ["--input", f"{name}={folder / f'{index}.npy'}"]
    try:
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=1800)
    except subprocess.TimeoutExpired:
        return "no result in 30 minutes"
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if line.strip()] or ["no message"]
        return f"exit status {result.returncode}: {lines[-1][:200]}"
    return {path.stem: np.load(path) for path in (folder / "out").glob("*.npy")}


def compare(command, model, sizes, folder):
    """The worst relative error over the outputs, or a reason."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    feed = random_inputs(session, sizes)
    reference = session.run(None, feed)
    outputs = run(command, model, feed, folder)
    if isinstance(outputs, str):
        return outputs
    worst = 0.0
    for value, expected in zip(session.get_outputs(), reference):
        name = file_name(value.name)
        if name not in outputs:
            return f"output '{value.name}' is missing"
        error = difference(outputs[name], expected)
        if isinstance(error, str):
            return f"output '{value.name}': {error}"
        worst = max(worst, error)
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--light", action="store_true", help="the light_* structures too (full size)")
    parser.add_argument("--only-light", action="store_true", help="nothing but the light_* structures")
    parser.add_argument("--symbolic", action="store_true", help="a symbolic batch dimension, run at 1, 2 and 7")
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    parser.add_argument("--backend", default="none", help="none (generated code alone) or a library")
    parser.add_argument("--config", action="append", default=[], help="of passes, KEY=VALUE")
    parser.add_argument("--keep", help="folder for models and results (default: a temporary one)")
    arguments = parser.parse_args()
    names = arguments.names or [*([] if arguments.only_light else make.NETWORKS),
                                *(light.NAMES if arguments.light or arguments.only_light else [])]
    command = [str(arguments.binary), "run", "--backend", arguments.backend, *(f"--config={pair}" for pair in arguments.config)]
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(arguments.keep or temporary)
        print(f"{'network':24}{'batch':>8}{'operators':>11}   max |difference| / max |reference|")
        for name in names:
            symbolic = arguments.symbolic or name == "transformer"
            network = make.make(name, arguments.size, "batch" if symbolic else None)
            folder = root / name
            folder.mkdir(parents=True, exist_ok=True)
            onnx.save(network, folder / "model.onnx")
            for batch in BATCHES if symbolic else (1,):
                error = compare(command, folder / "model.onnx", {"batch": batch, "sequence": 4 * batch + 1}, folder)
                good = not isinstance(error, str) and error <= TOLERANCE
                failures += not good
                text = error if isinstance(error, str) else f"{error:.1e}"
                print(f"{name:24}{batch:>8}{len(network.graph.node):>11}   {text}{'' if good else '   FAILED'}", flush=True)
    print(f"{failures} failures" if failures else f"all agree with ONNX Runtime {onnxruntime.__version__}")
    sys.exit(5 if failures else 0)


if __name__ == "__main__":
    main()
