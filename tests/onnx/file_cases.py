"""The command's files: types that numpy has no names for, sequences and optionals as folders, what is refused of them.

    python tests/onnx/file_cases.py [--binary PATH]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TYPES = {"BFLOAT16": ml_dtypes.bfloat16, "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn, "FLOAT8E5M2": ml_dtypes.float8_e5m2,
         "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu, "FLOAT4E2M1": ml_dtypes.float4_e2m1fn, "INT4": ml_dtypes.int4, "UINT4": ml_dtypes.uint4,
         "INT2": ml_dtypes.int2, "UINT2": ml_dtypes.uint2}
USAGE, UNSUPPORTED = 2, 4
SEQUENCE = """<ir_version: 9, opset_import: ["" : 17]> g (seq(float[m, n]) s, optional(float[2]) o) => (seq(float) t, float y) {
  i = Constant <value_int = 0> ()  first = SequenceAt (s, i)  more = SequenceInsert (s, first)  t = Identity (more)
  joined = ConcatFromSequence <axis = 0> (more)
  has = OptionalHasElement (o)
  y = If (has) <then_branch = a () => (float u) { e = OptionalGetElement (o)  u = Add (joined, e) },
                else_branch = b () => (float u) { u = Neg (joined) }> }"""


class Command:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def __call__(self, *arguments):
        result = subprocess.run([str(self.binary), *map(str, arguments)], capture_output=True, text=True, timeout=600)
        return result.returncode, result.stderr

    def run(self, model, *inputs):
        out = self.folder / "out"
        flags = [flag for value in inputs for flag in ("--input", value)]
        status, message = self("run", model, *flags, "--output-dir", out, "--backend", "none", "--progress", "none")
        return status, message, out


def check(what, good):
    if not good:
        print(f"FAILED {what}")
    return not good


def narrow(command):
    """A tensor of each type goes in, is transposed, and comes out as it was saved."""
    failures = 0
    for name, dtype in TYPES.items():
        proto = getattr(TensorProto, name)
        graph = helper.make_graph([helper.make_node("Transpose", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", proto, [3, 5])],
                                  [helper.make_tensor_value_info("y", proto, [5, 3])])
        model = command.folder / "narrow.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=12), model)
        x = np.arange(15).reshape(3, 5).astype(dtype)
        np.save(command.folder / "x.npy", x)
        status, message, out = command.run(model, f"x={command.folder / 'x.npy'}")
        failures += check(f"{name}: {message}", status == 0)
        failures += check(f"{name}: another result", np.load(out / "y.npy").tobytes() == x.T.tobytes())
        np.save(command.folder / "x.npy", np.zeros((3, 5), np.int16))
        status, message, _ = command.run(model, f"x={command.folder / 'x.npy'}")
        failures += check(f"{name}: int16 is taken for it", status == USAGE and "int16" in message)
    return failures


def folders(command):
    failures = 0
    model = command.folder / "sequence.onnx"
    onnx.save(onnx.parser.parse_model(SEQUENCE), model)
    arrays = [np.full((rows, 2), rows, np.float32) for rows in (1, 3)]
    for name, elements in {"s": arrays, "present": [np.array([5, 7], np.float32)], "absent": []}.items():
        (command.folder / name).mkdir()
        for index, array in enumerate(elements):
            np.save(command.folder / name / f"{index}.npy", array)
    joined = np.concatenate([*arrays, arrays[0]])
    for name, expected in {"present": joined + np.array([5, 7], np.float32), "absent": -joined}.items():
        status, message, out = command.run(model, f"s={command.folder / 's'}", f"o={command.folder / name}")
        failures += check(f"{name}: {message}", status == 0)
        failures += check(f"{name}: y", np.array_equal(np.load(out / "y.npy"), expected))
        for index, array in enumerate([*arrays, arrays[0]]):
            failures += check(f"{name}: t[{index}]", np.array_equal(np.load(out / "t" / f"{index}.npy"), array))
    status, message, _ = command.run(model)
    failures += check(f"without a length: {message}", status == UNSUPPORTED and "'s' is a sequence" in message and "--shape 's=3'" in message)
    status, message = command("run", model, "--shape", "s=1", "--shape", "o=2")
    failures += check(f"an optional of two: {message}", status == USAGE and "'o'" in message and "0 or 1" in message)
    status, message = command("bench", model, "--shape", "s=2", "--shape", "s[0]=1,2", "--shape", "s[1]=4,2", "--seconds", "0", "--backend", "none")
    failures += check(f"lengths by flags: {message}", status == 0)
    (command.folder / "out.txt").write_text("no tensor")
    status, message, _ = command.run(model, f"s={command.folder}")
    failures += check(f"a folder of other things: {message}", status == USAGE and "is a folder without 0.npy" in message)
    return failures


def terminals(command):
    """What a terminal would obey is written out, wherever names of a model are printed."""
    failures = 0
    clear = "\x1b[2J"
    model = command.folder / "clear.onnx"

    def save(op_type):
        node = helper.make_node(op_type, ["x" + clear], ["y\r" + clear], name="node" + clear)
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x" + clear, TensorProto.FLOAT, ["n" + clear])],
                                  [helper.make_tensor_value_info("y\r" + clear, TensorProto.FLOAT, ["n" + clear])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), model)

    for op_type in ("Relu", "Missing" + clear):
        save(op_type)
        for verb in (["run"], ["inspect"], ["explain"], ["explain", "--json"], ["opt", "--passes", ""]):
            result = subprocess.run([str(command.binary), verb[0], str(model), *verb[1:]], capture_output=True, timeout=600)
            printed = (result.stdout + result.stderr).decode()
            failures += check(f"{verb} of {op_type!r}: {printed!r}", printed and not set(printed) & {"\x1b", "\r"})
            failures += check(f"{verb} of {op_type!r}: status {result.returncode}", result.returncode == (0 if op_type == "Relu" else UNSUPPORTED))
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        command = Command(arguments.binary, pathlib.Path(temporary))
        failures = narrow(command) + folders(command) + terminals(command)
    print(f"{failures} failures" if failures else "files go in and come out")
    sys.exit(5 if failures else 0)


if __name__ == "__main__":
    main()
