"""Writes ResNet-50 with seeded random weights, runs it with and without fusion, checks it against ONNX Runtime
and prints the figures of all three side by side."""

import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEUTERON = ROOT / "build" / "release" / "bin" / "deuteron"
WORK = ROOT / "build" / "demo"
ROUNDS = 3
TOLERANCE = 1e-4


def deuteron(*arguments):
    return subprocess.run([DEUTERON, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def bench(model, *flags):
    return json.loads(deuteron("bench", model, "--seconds", "2", "--json", *flags))


def bench_onnxruntime(session, feed, seconds=2.0):
    session.run(None, feed)
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        session.run(None, feed)
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    model = WORK / "resnet50.onnx"
    subprocess.run([sys.executable, ROOT / "tests" / "networks" / "make.py", "resnet50", model, "--size", "full"], check=True)
    nodes = len(onnx.load(model, load_external_data=False).graph.node)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    x = np.random.default_rng(0).standard_normal(session.get_inputs()[0].shape).astype(np.float32)
    np.save(WORK / "x.npy", x)
    deuteron("run", model, "--input", f"{name}={WORK / 'x.npy'}", "--output-dir", WORK / "out", "--threads", 2)
    reference = session.run(None, {name: x})[0]
    output_name = "".join(c if c.isalnum() or c in "._-" else "_" for c in session.get_outputs()[0].name)
    result = np.load(WORK / "out" / f"{output_name}.npy")
    error = float(np.abs(result - reference).max() / np.abs(reference).max())

    # The machine is noisy: the four take turns, and the median of the rounds counts.
    rounds = []
    for _ in range(ROUNDS):
        best = bench(model, "--threads", 2)
        fused = bench(model, "--threads", 2, "--backend", "none")
        unfused = bench(model, "--threads", 2, "--no-fuse")
        rounds.append((best["median_ms"], fused["median_ms"], unfused["median_ms"], bench_onnxruntime(session, {name: x})))
    best_ms, fused_ms, unfused_ms, peer_ms = (statistics.median(column) for column in zip(*rounds))

    print(f"ResNet-50, 224x224, float32, 2 threads: {nodes} ONNX operators")
    print(f"  agrees with ONNX Runtime {onnxruntime.__version__}: max |difference| = {error:.1e} x max |reference|")
    print(f"  compiled in {fused['compile_ms'] / 1e3:.1f} s")
    print(f"  {'':24}{'kernels':>8}{'latency':>12}")
    print(f"  {'Deuteron':24}{'':>8}{best_ms:>9.2f} ms   (backend {best['backend']})")
    print(f"  {'Deuteron, fused':24}{fused['kernels']:>8}{fused_ms:>9.2f} ms")
    print(f"  {'Deuteron, --no-fuse':24}{unfused['kernels']:>8}{unfused_ms:>9.2f} ms")
    print(f"  {'ONNX Runtime':24}{'':>8}{peer_ms:>9.2f} ms")
    if not error <= TOLERANCE:
        sys.exit(f"the results differ by more than {TOLERANCE} x max |reference|")


if __name__ == "__main__":
    main()
