"""Every tensor that ONNX Runtime computes of a model, as `deuteron run --dump-intermediates` writes ours, for `deuteron diff`.

    python tools/dump_onnxruntime.py MODEL.onnx DIR NAME=INPUT.npy...

Needs onnx, onnxruntime and numpy. Sequences and optionals are left out.
"""

import argparse
import json
import pathlib
import re

import numpy as np
import onnx
import onnxruntime


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", metavar="MODEL.onnx")
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("inputs", metavar="NAME=INPUT.npy", nargs="*")
    parser.add_argument("--input", metavar="NAME=INPUT.npy", action="append", default=[], help="the same, as `deuteron run` has it")
    arguments = parser.parse_args()
    inputs = [*arguments.inputs, *arguments.input]
    if wrong := [each for each in inputs if "=" not in each]:
        parser.error(f"an input is NAME=INPUT.npy, not {wrong[0]}")
    folder, model = arguments.folder, onnx.load(arguments.model)
    names = list(dict.fromkeys(name for node in model.graph.node for name in node.output if name))
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    # Nodes as the model has them: no tensor is another one's by an optimisation.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = dict(argument.split("=", 1) for argument in inputs)
    values = session.run(None, {name: np.load(file) for name, file in given.items()})
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    order, taken = [], set()
    for name, value in zip(names, values):
        if not isinstance(value, np.ndarray):
            continue
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
        file, number = plain, 0
        while file in taken:
            number += 1
            file = f"{plain}_{number}"
        taken.add(file)
        np.save(pathlib.Path(folder) / f"{file}.npy", value)
        order.append({"name": name, "file": f"{file}.npy"})
    (pathlib.Path(folder) / "order.json").write_text(json.dumps(order, indent=1))


if __name__ == "__main__":
    main()
