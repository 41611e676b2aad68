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


class Group:
    """A control group of its own for processes; none where this one may not make any."""

    ROOTS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))

    def __enter__(self):
        self.folder = None
        for root, limit in self.ROOTS:
            folder = pathlib.Path(root) / f"deuteron-test-{os.getpid()}"
            try:
                folder.mkdir()
            except OSError:
                continue
            if (folder / limit).exists():
                self.folder, self.limit = folder, folder / limit
                break
            folder.rmdir()
        return self

    def __exit__(self, *_):
        if self.folder:
            self.folder.rmdir()

    def enter_with(self, limit):
        self.limit.write_text(str(limit))
        return lambda: (self.folder / "cgroup.procs").write_text(str(os.getpid()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    parser.add_argument("--to", type=float, default=2e9, help="bytes")
    parser.add_argument("--step", type=float, default=1.18)
    arguments = parser.parse_args()
    failures, done = 0, set()
    with tempfile.TemporaryDirectory() as temporary, Group() as group:
        path = pathlib.Path(temporary) / "model.onnx"
        path.write_bytes(network().SerializeToString())

        def check(what, limit, enter):
            nonlocal failures
            for backend, threads in (("none", "8"), ("auto", "1")):
                result = subprocess.run([str(arguments.binary), "run", str(path), "--backend", backend, "--threads", threads], capture_output=True, text=True,
                                        timeout=600, errors="replace", env={**os.environ, "DEUTERON_CACHE": "off"}, preexec_fn=enter)
                refused = result.returncode in (1, LOADER) and any(word in result.stderr for word in WORDS) and "internal" not in result.stderr
                failures += not (result.returncode == 0 or refused)
                if result.returncode == 0:
                    done.add(what)
                last = " ".join(result.stderr.strip().splitlines()[-1:])
                print(f"{'ok' if result.returncode == 0 or refused else 'FAILED':8}{limit / 1e6:6.0f} MB of {what}, {backend}, {threads} threads: {result.returncode} {last}")

        limits = [60e6]
        while limits[-1] < arguments.to:
            limits.append(limits[-1] * arguments.step)
        for limit in map(int, limits):
            check("address space", limit, lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if group.folder:
            # What is less holds not even the pages of the program that are read.
            for limit in [int(limit) for limit in limits if 100e6 < limit < 600e6]:
                check("a control group", limit, group.enter_with(limit))
        else:
            done.add("a control group")
            print("        no control group can be made here")
    if len(done) < 2:
        print("FAILED  it never ran")
    sys.exit(5 if failures or len(done) < 2 else 0)


if __name__ == "__main__":
    main()
