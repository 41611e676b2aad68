"""Limits (docs/limits.md): each at its border, just allowed and just refused; and models that ask for what no machine has.

    python tests/onnx/limit_cases.py [--binary PATH]
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from bad_models import FLOAT, UNSUPPORTED, USAGE, deep_graphs, field, model, node, one_node, value
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ANY = [helper.make_empty_tensor_value_info("y")]


def constant(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.array(values, dtype), name)


def chain(length):
    nodes = [node("Relu" if i % 2 else "Neg", [f"v{i}" if i else "x"], [f"v{i + 1}" if i + 1 < length else "y"], f"/n{i}") for i in range(length)]
    return model(nodes, outputs=ANY)


def nested_ifs(depth):
    """An If in a branch of an If, deeper than protobuf's own library writes."""

    def graph(nodes, output):
        return b"".join(field(1, one) for one in nodes) + field(12, helper.make_empty_tensor_value_info(output).SerializeToString())

    inner, output = graph([node("Relu", ["x"], ["r"], "/leaf").SerializeToString()], "r"), "r"
    for i in range(depth):
        other = graph([node("Abs", ["x"], [f"e{i}"]).SerializeToString()], f"e{i}")
        branches = b"".join(field(5, field(1, name) + field(6, body) + b"\xa0\x01\x05") for name, body in ((b"then_branch", inner), (b"else_branch", other)))
        output = f"r{i}" if i + 1 < depth else "y"
        one = field(1, b"c") + field(2, output.encode()) + field(3, f"/if{i}".encode()) + field(4, b"If") + branches
        inner = graph([one], output)
    inputs = (value("x"), value("c", (1,), TensorProto.BOOL))
    return b"\x08\x08" + field(7, inner + field(2, b"g") + b"".join(field(11, one.SerializeToString()) for one in inputs)) + field(8, b"\x10\x11")


def expand(*shape):
    return model([node("Expand", ["x", "s"], ["y"], "/it")], [constant("s", shape)], [value("x", (1,))], ANY)


def product(m, k, n):
    return model([node("MatMul", ["x", "w"], ["y"], "/product")], [constant("w", np.ones((k, n)), np.float32)], [value("x", (m, k))], ANY)


def steps(rows):
    """A result of that many bytes times 4,000, and an intermediate of as many, which no kernel can keep to itself."""
    nodes = [node("MatMul", ["x", "w"], ["a"], "/one"), node("Softmax", ["a"], ["b"], "/two", axis=0), node("MatMul", ["b", "w"], ["y"], "/three")]
    return model(nodes, [constant("w", np.ones((1000, 1000)), np.float32)], [value("x", (rows, 1000))], ANY)


def borders(folder):
    """(limit, what it allows just so, model, words of the refusal)"""
    small = chain(3).SerializeToString()
    yield "model_bytes", len(small), small, ["model.onnx"]
    weights = helper.make_tensor("w", FLOAT, (2, 3), bytes(24), raw=True)
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="weights.bin")
    (folder / "weights.bin").write_bytes(bytes(24))
    outside = model([node("Add", ["x", "w"], ["y"])], [weights]).SerializeToString()
    yield "model_bytes", len(outside) + 24, outside, ["weights.bin", "'w'"]
    yield "nodes", 7, chain(7), ["the graphs of the model"]
    yield "nodes", 11, nested_ifs(5), ["the graphs of the model"]
    yield "nesting", 5, nested_ifs(5), ["/if0"]
    yield "extent", 40, expand(4, 40), ["/it", "40"]
    yield "extent", 40, model([node("Relu", ["x"], ["y"])], inputs=[value("x", (40, 2))], outputs=ANY), ["input 'x'", "40"]
    yield "elements", 160, expand(4, 40), ["/it", "160"]
    yield "elements", 600, product(2, 20, 30), ["'w'", "600"]
    yield "elements", 66, model([node("Pad", ["x", "p"], ["y"], "/it")], [constant("p", [30, 30])], [value("x", (6,))], ANY), ["/it", "66"]


def bombs():
    """(name, model, words of the refusal; none where it has to run)"""
    yield "a constant of 2^44", model([node("ConstantOfShape", ["s"], ["t"], "/it"), node("Add", ["x", "t"], ["y"])], [constant("s", [2**44])],
                                      [value("x", (1,))], ANY), ["/it", "extent", str(2**44)]
    yield "a constant of 2^41 in all", model([node("ConstantOfShape", ["s"], ["t"], "/it"), node("Add", ["x", "t"], ["y"])], [constant("s", [2**21, 2**20])],
                                             [value("x", (1,))], ANY), ["/it", "elements", str(2**41)]
    yield "a constant of 2^39", model([node("ConstantOfShape", ["s"], ["t"], "/it"), node("Add", ["x", "t"], ["y"])], [constant("s", [2**39])],
                                      [value("x", (1,))], ANY), ["run_bytes", str(2**41)]
    for mode in ("nearest", "linear", "cubic"):
        yield f"resized to 2^40, {mode}", one_node("Resize", None, None, [1, 1, 2**20, 2**20], rank=4, mode=mode), ["/it", "run_bytes"]
    yield "products of 2^60 operations", model(
        [node("Expand", ["x", "s"], ["a"]), node("Transpose", ["a"], ["b"]), node("MatMul", ["a", "b"], ["c"], "/product"), node("ReduceSum", ["c"], ["y"])],
        [constant("s", [2**19, 2**20])], [value("x", (1, 1))], ANY), ["/product", "operations"]
    yield "graphs in graphs, 10,000 times", deep_graphs(10_000), ["nesting"]
    yield "10,000 Ifs in each other", nested_ifs(10_000), ["nesting"]
    for size in (2**31 - 1, 2**61 + 1, 2**63 - 1):
        yield f"LRN over {size}", model([node("LRN", ["x"], ["y"], "/it", size=size)], [], [value("x", (1, 4, 8, 8))], ANY), []
    regions = [constant("r", [[0, 0, 3, 3]], np.float32), constant("b", [0])]
    for ratio in (2**20, 2**62):
        yield f"RoiAlign of {ratio} samples a side", model([node("RoiAlign", ["x", "r", "b"], ["y"], "/it", sampling_ratio=ratio, output_height=32, output_width=32)],
                                                           regions, [value("x", (1, 32, 4, 4))], ANY), ["/it", "operations"]
        pixels = constant("x", np.ones((1, 32, 4, 4)), np.float32)
        yield f"the same of constants, {ratio}", model([node("RoiAlign", ["x", "r", "b"], ["a"], "/it", sampling_ratio=ratio, output_height=32, output_width=32),
                                                        node("Mul", ["a", "z"], ["y"])], [pixels, *regions], [value("z", (1,))], ANY), ["/it", "operations"]
    yield "30 Ifs in each other", nested_ifs(30), []
    yield "100,000 tensors joined", model([node("Concat", ["x"] * 100_000, ["y"], "/it", axis=0)], outputs=ANY), []
    yield "100,000 tensors added", model([node("Sum", ["x"] * 100_000, ["y"], "/it")], outputs=ANY), []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    arguments = parser.parse_args()
    failures = 0

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)

        def check(name, content, flags, status, words=(), verb="run", path=None):
            """What it said."""
            nonlocal failures
            path = path or folder / "model.onnx"
            if content is not None:
                path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
            result = subprocess.run([str(arguments.binary), verb, str(path), *flags], capture_output=True, text=True, timeout=600,
                                    env={**os.environ, "DEUTERON_CACHE": "off"})
            missing = [word for word in words if word not in result.stdout + result.stderr]
            good = result.returncode == status and not missing
            failures += not good
            print(f"{'ok' if good else 'FAILED':8}{name}")
            if not good:
                print(f"        exit status {result.returncode}, expected {status}; missing words: {missing}")
                print("        " + "\n        ".join(result.stderr.strip().splitlines()[-4:]))
            return result.stderr

        def check_border(limit, what, content, flags, words, least):
            """By the figures that refusals give, of which the last is a little more than `least`."""
            amount = 1
            while amount < least:
                said = check(f"{limit}={amount}, {what}", content, [*flags, "--limit", f"{limit}={amount}"], UNSUPPORTED)
                amount = int(re.search(r": (\d+) (bytes|operations),", said)[1])
            check(f"{limit}={amount - 1}, {what}", content, [*flags, "--limit", f"{limit}={amount - 1}"], UNSUPPORTED, words)
            check(f"{limit}={amount}, {what}", content, [*flags, "--limit", f"{limit}={amount}"], 0 if amount <= 1.1 * least else None)

        for name, most, content, words in borders(folder):
            check(f"{name}={most}", content, ["--limit", f"{name}={most}"], 0)
            check(f"{name}={most - 1}", content, ["--limit", f"{name}={most - 1}"], UNSUPPORTED, [*words, f"limit {name}={most - 1}"])
        # Of the operator twice as many as there are multiply-adds; of the kernel also what fills its tiles.
        check("operations=119999", product(30, 40, 50), ["--limit", "operations=119999"], UNSUPPORTED, ["/product", "120000 operations"])
        check("operations=1M", product(30, 40, 50), ["--limit", "operations=1M"], 0)
        check_border("operations", "of copies", expand(2**12, 1000), (), ["/it"], 2**12 * 1000)
        # Memory of a run, told at compilation; where dimensions are symbolic, by the run.
        check_border("run_bytes", "known", steps(1000), ["--backend", "none"], [], 12_000_000)
        rows = ["--input", f"x={folder / 'x.npy'}"]
        np.save(folder / "x.npy", np.ones((1000, 1000), np.float32))
        check_border("run_bytes", "by the run", steps("n"), ["--backend", "none", *rows], ["main"], 12_000_000)
        check("run_bytes=13000, of one row", None, ["--backend", "none", "--shape", "x=1,1000", "--limit", "run_bytes=13000"], 0)
        compiled = folder / "model.so"
        check("compiled", None, ["-o", str(compiled), "--backend", "none"], 0, verb="compile")
        check("run_bytes=13M, compiled", None, [*rows, "--limit", "run_bytes=13M"], 0, path=compiled)
        check("run_bytes=11M, compiled", None, [*rows, "--limit", "run_bytes=11M"], UNSUPPORTED, ["run_bytes=11000000"], path=compiled)
        check("compile_seconds=0", chain(3), ["--limit", "compile_seconds=0"], UNSUPPORTED, ["compile_seconds=0"])
        check("compile_bytes=1000", steps(10), ["--limit", "compile_bytes=1000"], UNSUPPORTED, ["compile_bytes=1000"])
        check("of inspect", chain(3), ["--limit", "nodes=2"], UNSUPPORTED, ["nodes=2"], "inspect")
        check("no limit of that name", chain(3), ["--limit", "node=2"], USAGE, ["node", "did you mean", "nodes"])
        check("no number", chain(3), ["--limit", "nodes=many"], USAGE, ["many"])
        check("more than there can be", chain(3), ["--limit", "nesting=65"], USAGE, ["64"])
        for name, content, words in bombs():
            check(name, content, [], UNSUPPORTED if words else 0, words)
    sys.exit(5 if failures else 0)


if __name__ == "__main__":
    main()
