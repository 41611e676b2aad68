"""Writes architectures of the zoo as ONNX, each with three sets of inputs.

    python tests/zoo/export.py --list
    python tests/zoo/export.py FOLDER < lines "NAME<tab>FORM<tab>EXPORTER"

FORM: static, dynamic. EXPORTER: dynamo, script. Each gets FOLDER/NAME-FORM-EXPORTER with model.onnx and inputs-0.npz to
inputs-2.npz (by input name), or with failure.txt, and then a line on the standard output, its folder's name. What is there
already is kept.
"""

import os
import pathlib
import shutil
import signal
import sys
import warnings

import numpy as np
import onnx
import torch

import language
import open_sizes
import others
import vision
from folders import folder_name

SECONDS = 240


def entries():
    for family in (vision, language, others, open_sizes):
        yield from family.entries()


class Positional(torch.nn.Module):
    """Takes its inputs by position, as both exporters want them."""

    def __init__(self, module, names):
        super().__init__()
        self.module, self.names = module, names

    def forward(self, *tensors):
        return self.module(**dict(zip(self.names, tensors)))


def enlivened(module):
    """The module with random numbers for what starts as zeros, heads of classifiers for one: else results say nothing."""
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.is_floating_point() and not tensor.any():
                tensor.normal_(0, 0.02)
    return module


def export(entry, exporter, folder):
    torch.manual_seed(0)
    arguments = entry.inputs(0)
    names = list(arguments)
    module = Positional(enlivened(entry.build().eval()), names)
    path = folder / "model.onnx"
    with torch.no_grad():
        if exporter == "dynamo":
            shapes = None
            if entry.dynamic:
                shapes = {"tensors": tuple({axis: torch.export.Dim.DYNAMIC for axis in entry.dynamic.get(name, {})} for name in names)}
            torch.onnx.export(
                module,
                tuple(arguments.values()),
                str(path),
                input_names=names,
                dynamo=True,
                dynamic_shapes=shapes,
                external_data=False,
                verbose=False,
            )
        else:
            torch.onnx.export(
                module, tuple(arguments.values()), str(path), input_names=names, dynamic_axes=entry.dynamic, dynamo=False, opset_version=18
            )
    onnx.checker.check_model(str(path))
    for k in range(3):
        np.savez(folder / f"inputs-{k}.npz", **{name: value.numpy() for name, value in entry.inputs(k).items()})


def export_in_child(entry, exporter, folder):
    """The exporters keep state and may take the process with them: each has one of its own."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        unfinished = folder.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        try:
            export(entry, exporter, unfinished)
        except BaseException as error:  # noqa: BLE001: whatever an exporter raises
            lines = str(error).strip().splitlines() or [""]
            cause = next((line for line in reversed(lines) if "Error" in line), lines[0])
            (unfinished / "failure.txt").write_text(f"{type(error).__name__}: {cause}\n")
        unfinished.rename(folder)
        os._exit(0)
    os.waitpid(child, 0)
    if not folder.exists():
        folder.mkdir()
        (folder / "failure.txt").write_text(f"the exporter ended, or was ended after {SECONDS} s\n")


def main():
    warnings.filterwarnings("ignore")
    if sys.argv[1] == "--list":
        for entry in entries():
            print(f"{entry.name}\t{entry.form}\t{entry.tolerance}")
        return
    root = pathlib.Path(sys.argv[1])
    root.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    by_key = {(entry.name, entry.form): entry for entry in entries()}
    finished, sys.stdout = sys.stdout, open(os.devnull, "w")
    for line in sys.stdin:
        name, form, exporter = line.rstrip("\n").split("\t")
        folder = root / folder_name(name, form, exporter)
        if not folder.exists():
            export_in_child(by_key[name, form], exporter, folder)
        print(folder.name, file=finished, flush=True)


if __name__ == "__main__":
    main()
