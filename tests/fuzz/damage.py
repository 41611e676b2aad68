"""Damaged compiled models: each is refused by a user's error, or gives what the whole one gives.

    python tests/fuzz/damage.py [--count N] [--seed N] [--binary PATH] [--keep DIR]

N damages (2,000) to five artefacts in turn: bits that are others, ranges of zeros or of noise, parts that are gone, twice there or exchanged. Each is run in
a process of its own, every second one with --verify. A signal, an internal error, more than 20 s, and outputs that are others are written down; the exit status is 5 where
there is such a one.
"""

import argparse
import collections
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from mutations import ROOT, make, network_inputs

# Of the processor: a machine that is busy makes nothing hang. What waits for itself uses none.
SECONDS = 20
WAIT = 300
# Name, back end, threads.
ARTEFACTS = (("resnet50", "none", 2), ("bert", "auto", 1), ("lstm", "none", 1), ("unet", "dnnl", 2), ("decoder", "none", 2))
REFUSED = (3, 4)


def limit_work():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # then a signal


def damaged(rng, data):
    """The bytes, and what was done to them."""
    data = bytearray(data)
    size = len(data)
    kind = ("bits", "bits", "zeros", "noise", "cut", "gone", "twice", "exchanged")[int(rng.integers(8))]
    # Small places far more often than their share: the head, and the tables at the end.
    place = int(rng.choice([rng.integers(size), rng.integers(min(size, 4096)), size - 1 - rng.integers(min(size, 4096))]))
    length = int(min(1 << rng.integers(0, 16), size - place))
    if kind == "bits":
        for _ in range(int(rng.integers(1, 9))):
            data[place] ^= 1 << int(rng.integers(8))
            place = int(rng.integers(size))
    elif kind == "zeros":
        data[place : place + length] = bytes(length)
    elif kind == "noise":
        data[place : place + length] = rng.bytes(length)
    elif kind == "cut":
        del data[place:]
    elif kind == "gone":
        del data[place : place + length]
    elif kind == "twice":
        data[place:place] = data[place : place + length]
    else:
        other = int(rng.integers(size - length + 1))
        data[place : place + length], data[other : other + length] = data[other : other + length], data[place : place + length]
    return bytes(data), f"{kind} at {place} of {size}, {length} bytes"


class Artefact:
    def __init__(self, binary, folder, name, backend, threads):
        self.binary, self.folder, self.name = binary, folder / name, f"{name} ({backend}, {threads} threads)"
        self.folder.mkdir()
        model = make.make(name)
        onnx.save(model, self.folder / "model.onnx")
        self.inputs = []
        for value, array in zip(model.graph.input, network_inputs(model)):
            np.save(self.folder / f"{value.name}.npy", array)
            self.inputs += ["--input", f"{value.name}={self.folder / value.name}.npy"]
        subprocess.run([binary, "compile", self.folder / "model.onnx", "-o", self.folder / "model.so", "--backend", backend, "--threads", str(threads)], check=True,
                       stderr=subprocess.DEVNULL)
        self.data = (self.folder / "model.so").read_bytes()
        self.path = self.folder / "damaged.so"
        status, self.expected = self.run(self.data)
        assert status == 0, f"{self.name}: status {status}: {self.expected}"

    def run(self, data, *flags):
        """The exit status, and the outputs or the message."""
        self.path.unlink(missing_ok=True)
        self.path.write_bytes(data)
        out = self.folder / "out"
        for old in out.glob("*.npy"):
            old.unlink()
        try:
            done = subprocess.run([self.binary, "run", self.path, *self.inputs, "--output-dir", out, *flags], capture_output=True, timeout=WAIT,
                                  preexec_fn=limit_work)
        except subprocess.TimeoutExpired:
            return "hang", f"no answer in {WAIT} s"
        if done.returncode != 0:
            return done.returncode, done.stderr.decode(errors="replace").strip()
        return 0, {path.name: path.read_bytes() for path in sorted(out.glob("*.npy"))}

    def verdict(self, data, *flags):
        status, answer = self.run(data, *flags)
        if status == 0:
            return ("same", "") if answer == self.expected else ("wrong", "its outputs are others")
        if status in REFUSED:
            return "refused", answer
        return "failed", f"status {status}: {answer[-300:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="the first damage")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "deuteron")
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build" / "fuzz" / "findings", help="folder for what is found")
    arguments = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        artefacts = [Artefact(arguments.binary, pathlib.Path(scratch), *row) for row in ARTEFACTS]
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            artefact = artefacts[seed % len(artefacts)]
            data, what = damaged(np.random.default_rng(seed), artefact.data)
            kind, text = artefact.verdict(data, *["--verify"] * (seed // len(artefacts) % 2))
            counts[kind] += 1
            if kind in ("wrong", "failed"):
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"damage-{seed}.so").write_bytes(data)
                print(f"{seed}: {artefact.name}, {what}: {kind}: {text}", flush=True)
    print(f"{sum(counts.values())} damaged artefacts: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    sys.exit(5 if counts["wrong"] + counts["failed"] else 0)


if __name__ == "__main__":
    main()
