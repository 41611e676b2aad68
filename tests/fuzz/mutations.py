"""Models with random changes: each is refused by a user's error, or computed as ONNX Runtime computes it.

    python tests/fuzz/mutations.py [--count N] [--seed N] [--binary PATH] [--keep DIR]

N changes (20,000) to 20 models in turn, ten networks of tests/networks and ten random ones. What ends by a signal, takes over 20 s or fails by an internal
error, what is wrong, and what is computed though neither ONNX Runtime nor the standard's checker takes it, is written down; the exit status is 5 where
there is such a one. The limits are those that a service might set (attack.py).
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from attack import BINARY, ROOT, Attack
from draw import draw
from mutate_model import Mutator

sys.path.insert(0, str(ROOT / "tests" / "networks"))
import make  # noqa: E402

NETWORKS = ("resnet50", "mobilenetv2", "shufflenet", "squeezenet", "unet", "bert", "decoder", "lstm", "transformer", "vit")
# Among them control flow, bytes, images, symbolic dimensions, sizes that the run tells.
SEEDS = (4, 35, 58, 74, 83, 93, 98, 113, 124, 133)


def network_inputs(model):
    rng = np.random.default_rng(0)
    initialised = {tensor.name for tensor in model.graph.initializer}
    arrays = []
    for value in model.graph.input:
        if value.name in initialised:
            continue
        shape = [dim.dim_value or 2 for dim in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        arrays.append(rng.standard_normal(shape).astype(dtype) if dtype.kind == "f" else rng.integers(0, 2, shape).astype(dtype))
    return arrays


def models():
    """Names, models and inputs."""
    for name in NETWORKS:
        model = make.make(name)
        yield name, model, network_inputs(model)
    for seed in SEEDS:
        network = draw(seed)
        # The checker wants to know the ranks of results.
        for output, array in zip(network.model.graph.output, network.expected[0]):
            output.type.tensor_type.shape.dim.extend(onnx.TensorShapeProto.Dimension(dim_param=f"{output.name}_{axis}") for axis in range(array.ndim))
        yield f"random {seed}", network.model, [network.inputs[0][value.name] for value in network.model.graph.input]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0, help="the first change")
    parser.add_argument("--checked", action="store_true", help="compares every access with its buffer, and no result with others'")
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY)
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build" / "fuzz" / "findings", help="folder for what is found")
    arguments = parser.parse_args()
    chosen = list(models())
    with tempfile.TemporaryDirectory(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as scratch:
        attack = Attack("mutations", arguments.binary, scratch, arguments.keep, compares=not arguments.checked, checked=arguments.checked)
        for name, model, inputs in chosen:
            verdict = attack.judge(model.SerializeToString(), inputs)
            if verdict.kind != ("computed" if arguments.checked else "right"):
                sys.exit(f"{name}, as it is: {verdict.kind}: {verdict.text}")
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            name, model, inputs = chosen[seed % len(chosen)]
            data, what = Mutator(np.random.default_rng(seed)).change(model)
            attack.count(seed, f"{name}, {what}", data, inputs)
        attack.close()
        faults = attack.report()
    sys.exit(5 if faults else 0)


if __name__ == "__main__":
    main()
