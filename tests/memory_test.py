"""The peak memory of `deuteron run`, as multiples of the model's weights: none is held longer, or more often, than it is needed.

    python tests/memory_test.py BINARY
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BINARY = sys.argv[1]
MIB = 1 << 20
# The weights of a network that is large, in MiB.
LARGE = 72


def convolutions(channels):
    """Two convolutions with batch norms: their weights are folded, and then laid out."""
    random = np.random.default_rng(0)
    nodes, weights = [], []
    for i in range(2):
        weights.append(numpy_helper.from_array((random.standard_normal((channels, channels, 3, 3)) / channels).astype(np.float32), f"w{i}"))
        for name in ("scale", "shift", "mean", "var"):
            weights.append(numpy_helper.from_array(random.uniform(0.5, 1, channels).astype(np.float32), f"{name}{i}"))
        nodes.append(helper.make_node("Conv", [f"x{i}", f"w{i}"], [f"c{i}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("BatchNormalization", [f"c{i}", f"scale{i}", f"shift{i}", f"mean{i}", f"var{i}"], [f"x{i + 1}"]))
    return nodes, weights, [1, channels, 4, 4]


def products(channels):
    """Two products: their weights are laid out."""
    random = np.random.default_rng(0)
    width = 3 * channels
    weights = [numpy_helper.from_array((random.standard_normal((width, width)) / width).astype(np.float32), f"w{i}") for i in range(2)]
    return [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(2)], weights, [32, width]


def save(network, channels, path):
    nodes, weights, shape = network(channels)
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name in ("x0", "x2")]
    graph = helper.make_graph(nodes, "g", *ends, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


# The system counts in what a process held before it became the command: it is started by one that holds little.
LAUNCHER = "import os, sys; pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); _, status, usage = os.wait4(pid, 0); print(status, usage.ru_maxrss, file=sys.stderr)"


def peak(*arguments):
    """MiB."""
    command = [sys.executable, "-S", "-c", LAUNCHER, BINARY, *map(str, arguments), "--threads", "1", "--progress", "none"]
    said = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True).stderr
    status, kib = map(int, said.splitlines()[-1].split())
    assert status == 0, said
    return kib * 1024 / MIB


def peaks(model, folder, backend):
    """Compiled and run; the same into an empty cache; out of it; of an artefact."""
    flags = ["--backend", backend]
    cache, artefact = folder / f"cache-{backend}", folder / "model.so"
    peak("compile", model, "-o", artefact, *flags)
    return {
        "without a cache": peak("run", model, "--cache", "off", *flags),
        "into the cache": peak("run", model, "--cache", cache, *flags),
        "out of the cache": peak("run", model, "--cache", cache, *flags),
        "an artefact": peak("run", artefact),
    }


# Folding makes new weights, which are laid out anew; a library reads all from the file while it lays them out; all else is
# read where it lies.
MOST = {("convolutions", "none"): 2.3, ("convolutions", "dnnl"): 2.7, ("products", "none"): 1.7, ("products", "dnnl"): 2.2}


def main():
    failed = False
    for network in (convolutions, products):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            models = {channels: folder / f"{channels}.onnx" for channels in (16, 1024)}
            for channels, model in models.items():
                save(network, channels, model)
            time.sleep(2.1)  # what has just been written is looked at again by the cache
            for backend in ("none", "dnnl"):
                base = peaks(models[16], folder, backend)
                for how, mib in peaks(models[1024], folder, backend).items():
                    share = (mib - base[how]) / LARGE
                    most = MOST[network.__name__, backend] if how in ("without a cache", "into the cache") else 1.2
                    print(f"{network.__name__}, {backend}, {how}: {share:.2f} times the weights (at most {most})", flush=True)
                    failed |= share > most
    sys.exit(5 if failed else 0)


if __name__ == "__main__":
    main()
