"""Runs the command in little memory: it does what it was asked for, or says why not with status 1, whatever there is of it.

    python tests/onnx/little_memory.py [--binary PATH] [--to BYTES --step FACTOR]

The least that the process begins with is that of the machine's loader, which is no business of ours: below it, the status is the loader's.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
from bad_models import model, node, value
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOADER = 127
WORDS = ("out of memory", "memory", "thread", "map")


def network():
    """Convolutions and products that libraries and generated code compute, and weights that are packed for them."""
    generator = np.random.default_rng(0)
    shapes = {"c": (64, 64, 3, 3), "d": (64, 64, 3, 3), "w": (64, 4000), "v": (4000, 1000)}
    weights = [numpy_helper.from_array(generator.standard_normal(shape).astype(np.float32), name) for name, shape in shapes.items()]
    nodes = [node("Conv", ["x", "c"], ["a"], "/c", pads=[1] * 4), node("Relu", ["a"], ["b"]), node("Conv", ["b", "d"], ["e"], "/d", pads=[1] * 4),
             node("GlobalAveragePool", ["e"], ["f"]), node("Flatten", ["f"], ["g"]), node("MatMul", ["g", "w"], ["h"]), node("Softmax", ["h"], ["i"]),
             node("MatMul", ["i", "v"], ["y"])]
    return model(nodes, weights, [value("x", (4, 64, 56, 56))], [helper.make_empty_tensor_value_info("y")])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    parser.add_argument("--to", type=float, default=1.2e9, help="bytes of address space")
    parser.add_argument("--step", type=float, default=1.12)
    arguments = parser.parse_args()
    failures, done, bytes_ = 0, False, 60e6
    with tempfile.TemporaryDirectory() as temporary:
        path = pathlib.Path(temporary) / "model.onnx"
        path.write_bytes(network().SerializeToString())
        while bytes_ < arguments.to:
            limit = int(bytes_)
            for backend in ("none", "auto"):
                for threads in ("1", "8"):
                    result = subprocess.run([str(arguments.binary), "run", str(path), "--backend", backend, "--threads", threads], capture_output=True, text=True,
                                            timeout=600, errors="replace", env={**os.environ, "DEUTERON_CACHE": "off"},
                                            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
                    refused = result.returncode in (1, LOADER) and any(word in result.stderr for word in WORDS) and "internal" not in result.stderr
                    good = result.returncode == 0 or refused
                    done |= result.returncode == 0
                    failures += not good
                    last = result.stderr.strip().splitlines()[-1:]
                    print(f"{'ok' if good else 'FAILED':8}{limit / 1e6:6.0f} MB, {backend}, {threads} threads: {result.returncode} {last}")
            bytes_ *= arguments.step
    if not done:
        print("FAILED  it never ran")
    sys.exit(5 if failures or not done else 0)


if __name__ == "__main__":
    main()
