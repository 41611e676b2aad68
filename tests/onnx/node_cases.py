"""The onnx package's own cases of single operators, against the outputs that it gives.

    python tests/onnx/node_cases.py [PATTERN] [--form static|run-time] [--mode MODE] [--binary PATH]
                                    [--list FILE] [--expect FILE] [--reasons N]

Static: operands that say how (axes, pads, sizes, k, …) are initialisers, as exporters write them. Run-time: all inputs
are inputs. Prints the score and the most frequent reasons of refusals; --list writes a line a case. No result is wrong
where the exit status is 0, and with --expect nothing is lost that a list has; other refusals do not count.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "onnx"))
from compare import difference  # noqa: E402

CASES = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
# As the package's own runner: a thousandth.
TOLERANCE = 1e-3
TOLERANCE_HALF = 1e-2

# Cases whose outputs do not follow from the model, or ONNX Runtime does not give either; then ours are its.
NOT_COMPARED = {
    "test_l2normalization_axis_0": "a norm of 0 gives 0, not NaN",
    "test_qlinearmatmul_2D_int8_float16": "what does not fit is saturated",
    "test_qlinearmatmul_2D_int8_float32": "what does not fit is saturated",
    "test_qlinearmatmul_3D_int8_float16": "what does not fit is saturated",
    "test_qlinearmatmul_3D_int8_float32": "what does not fit is saturated",
    "test_resize_downsample_scales_cubic_align_corners": "the last element is that of the result, whose length is a whole number",
    "test_resize_downsample_scales_linear_align_corners": "the last element is that of the result, whose length is a whole number",
    "test_adam_multiple": "its outputs are those of an epsilon that the model does not have",
} | {f"test_bernoulli{name}": "its outputs are those of other random numbers"
     for name in ("", "_double", "_double_expanded", "_expanded", "_seed", "_seed_expanded")} | {
    f"test_training_dropout{name}": "its outputs are those of other random numbers" for name in ("", "_default", "_default_mask", "_mask")}

# Inputs that steer an operator.
STEERS = {
    "AffineGrid": [1], "BlackmanWindow": [0], "CenterCropPad": [1], "Clip": [1, 2], "Col2Im": [1, 2], "ConstantOfShape": [0], "CumProd": [1], "CumSum": [1],
    "DFT": [1, 2], "Dropout": [1, 2], "Expand": [1], "HammingWindow": [0], "HannWindow": [0], "If": [0], "Loop": [0, 1], "MaxUnpool": [2],
    "MelWeightMatrix": [0, 1, 2, 3, 4], "NonMaxSuppression": [2, 3, 4], "OneHot": [1, 2], "Pad": [1, 2, 3], "Range": [0, 1, 2], "Reshape": [1],
    "Resize": [1, 2, 3], "STFT": [1, 3], "SequenceAt": [1], "SequenceErase": [1], "SequenceInsert": [2], "Slice": [1, 2, 3, 4], "Split": [1], "SplitToSequence": [1], "Squeeze": [1], "Tile": [1], "TopK": [1],
    "Trilu": [1], "Unsqueeze": [1], "Upsample": [1],
} | {f"Reduce{kind}": [1] for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")}


def steering(graph):
    return {node.input[index] for node in graph.node for index in STEERS.get(node.op_type, []) if index < len(node.input)}


def load(path, kind):
    """What a file holds: a tensor, a list of them, or None; a ValueError for other kinds."""
    protos = {"tensor_type": onnx.TensorProto, "sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}
    if kind not in protos:
        raise ValueError(f"a {kind.removesuffix('_type')}")
    proto = protos[kind]()
    proto.ParseFromString(path.read_bytes())
    if kind == "tensor_type":
        return numpy_helper.to_array(proto)
    return numpy_helper.to_list(proto) if kind == "sequence_type" else numpy_helper.to_optional(proto)


def elements(value):
    """The arrays in a value, in order."""
    if isinstance(value, list):
        return [array for element in value for array in elements(element)]
    return [] if value is None else [value]


def prepare(case, form, folder):
    """Writes the model and its inputs; the expected outputs, or why the case cannot be run."""
    model = onnx.load(case / "model.onnx")
    data = case / "test_data_set_0"
    fixed = steering(model.graph) if form == "static" else set()
    inputs = []
    shapes = []
    initialised = {tensor.name for tensor in model.graph.initializer}
    for index, info in enumerate([info for info in model.graph.input if info.name not in initialised]):
        kind = info.type.WhichOneof("value")
        value = load(data / f"input_{index}.pb", kind)
        if info.name in fixed:
            model.graph.initializer.append(numpy_helper.from_array(value, info.name))
            model.graph.input.remove(info)
            continue
        inputs += elements(value)
        if kind != "tensor_type":
            # A sequence is compiled for its length, its elements for their shapes.
            shapes.append(f"{info.name} {len(elements(value))}")
            shapes += [f"{info.name}[{i}] {','.join(map(str, array.shape))}" for i, array in enumerate(elements(value))]
    expected = []
    for index, info in enumerate(model.graph.output):
        expected += elements(load(data / f"output_{index}.pb", info.type.WhichOneof("value")))
    for array in [*inputs, *expected]:
        if array.dtype.kind in "OSU":
            return "strings"
    folder.mkdir()
    onnx.save(model, folder / "model.onnx")
    (folder / "shapes.txt").write_text("".join(f"{line}\n" for line in shapes))
    for index, array in enumerate(inputs):
        np.save(folder / f"{index}.npy", array)
    return expected


def disagreement(result, expected):
    """What differs, or ''. Elements of a byte and less are compared exactly, others as the package's runner does."""
    if result.dtype.kind == "V" and result.dtype.itemsize == expected.dtype.itemsize:
        result = result.view(expected.dtype)  # numpy has no names for ml_dtypes' types
    if result.dtype != expected.dtype:
        return f"{result.dtype} instead of {expected.dtype}"
    tolerance = {1: 0.0, 2: TOLERANCE_HALF}.get(expected.dtype.itemsize, TOLERANCE)
    if expected.dtype.isbuiltin != 1:  # of ml_dtypes
        result, expected = result.astype(np.float32), expected.astype(np.float32)
    error = difference(result, expected)
    return "" if not isinstance(error, str) and error <= tolerance else error


def judge(folder, expected):
    """'', or 'refused: …', 'crashed', 'wrong: …'."""
    if (folder / "error.txt").exists():
        text = " ".join((folder / "error.txt").read_text().split())
        kind = text.split(":")[0]
        return text if kind == "Crash" else f"refused: {text}"
    if expected is not None and (folder / f"out_{len(expected)}.npy").exists():
        return "wrong: there are more outputs"
    for index, array in enumerate(expected or []):
        path = folder / f"out_{index}.npy"
        if not path.exists():
            return "wrong: an output is missing"
        wrong = disagreement(np.load(path), array)
        if wrong:
            return f"wrong: output {index}: {wrong}"
    return ""


def verdict(name, folder, expected):
    """The same; refused, where ONNX Runtime's result is another one."""
    text = judge(folder, expected)
    if text.startswith("wrong") and name in NOT_COMPARED:
        return f"refused: not compared: {NOT_COMPARED[name]}"
    return text


def is_wrong(text):
    return bool(text) and not text.startswith("refused")


def write_list(path, verdicts):
    path.write_text("".join(f"{name}  {text or 'right'}\n" for name, text in sorted(verdicts.items())))


def lost(path, verdicts):
    """Cases that a list says are right, and that are not."""
    expected = dict(line.split("  ", 1) for line in path.read_text().splitlines())
    return [name for name, text in verdicts.items() if text and expected.get(name) == "right"]


def run(binary, mode, folders):
    """All folders; a process that dies is followed by one for the rest."""
    while folders:
        subprocess.run([str(binary), mode, *map(str, folders)], timeout=3600, capture_output=True)
        crashed = [i for i, folder in enumerate(folders) if (folder / "error.txt").exists() and (folder / "error.txt").read_text().startswith("Crash")]
        folders = folders[crashed[-1] + 1 :] if crashed else []


def reason(verdict):
    """A verdict without what is special to its case."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)", "…", verdict)
    text = re.sub(r"^refused: (\w+): node …( …)?", r"refused: \1", text)
    return re.sub(r"\d+", "N", text)[:110]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--form", choices=["static", "run-time"], default="static")
    parser.add_argument("--mode", default="compile", help="interpret, import, or compile with options (see run_cases.cc)")
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "run_cases")
    parser.add_argument("--expect", type=pathlib.Path, help="such a list: what is right there must be right")
    parser.add_argument("--list", type=pathlib.Path, help="file for one line a case")
    parser.add_argument("--reasons", type=int, default=40, help="how many reasons are printed")
    arguments = parser.parse_args()
    verdicts = {}
    with tempfile.TemporaryDirectory() as temporary:
        pending = {}
        for case in sorted(CASES.iterdir()):
            if not re.search(arguments.pattern, case.name):
                continue
            folder = pathlib.Path(temporary) / case.name
            try:
                expected = prepare(case, arguments.form, folder)
            except Exception as error:  # noqa: BLE001: files that numpy cannot hold
                expected = f"not read: {error}"
            if isinstance(expected, str):
                verdicts[case.name] = f"refused: {expected}"
            else:
                pending[case.name] = (folder, expected)
        run(arguments.binary, arguments.mode, [folder for folder, _ in pending.values()])
        for name, (folder, expected) in pending.items():
            verdicts[name] = verdict(name, folder, expected if arguments.mode != "import" else None)
    for text, count in collections.Counter(reason(v) for v in verdicts.values() if v).most_common(arguments.reasons):
        print(f"{count:5}  {text}")
    if arguments.list:
        write_list(arguments.list, verdicts)
    wrong = [name for name, text in verdicts.items() if is_wrong(text)]
    for name in wrong:
        print(f"WRONG {name}: {verdicts[name][:160]}")
    right = sum(not text for text in verdicts.values())
    print(f"{len(verdicts)} cases ({arguments.form}): {right} right, {len(verdicts) - right - len(wrong)} refused, {len(wrong)} wrong")
    regressed = lost(arguments.expect, verdicts) if arguments.expect else []
    for name in regressed:
        print(f"LOST {name}, which was right: {verdicts[name][:160]}")
    sys.exit(5 if wrong or regressed else 0)


if __name__ == "__main__":
    main()
