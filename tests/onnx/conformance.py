"""The onnx package's cases in every form, and the table of what is right.

    python tests/onnx/conformance.py [PATTERN] [--set NAME]... [--form NAME]... [--backend NAME]... [--fused | --not-fused]
                                     [--binary PATH] [--write]

Sets: node, simple, pytorch-operator, pytorch-converted, light. Forms: static (operands that say how are initialisers),
symbolic (the same; dimensions of inputs are symbols, equal numbers one symbol), run-time (all inputs are inputs). Each is
compiled fused and not, for generated code alone and for oneDNN. --write, without PATTERN, puts the table into docs/conformance.md, in which
rows that were not run stay as they were (older), and, if the static fused form for generated code was run, what is expected
of each case into tests/onnx/expected_cases.txt, which the test onnx_node_cases reads. No result is wrong where the exit
status is 0.
"""

import argparse
import collections
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "onnx"))
import node_cases  # noqa: E402

DATA = node_cases.CASES.parent
SETS = ("node", "simple", "pytorch-operator", "pytorch-converted", "light")
FORMS = ("static", "symbolic", "run-time")
BACKENDS = ("none", "dnnl")
TABLE = ROOT / "docs" / "conformance.md"
EXPECTED = ROOT / "tests" / "onnx" / "expected_cases.txt"

HEADER = """# Conformance

The test cases of the onnx package ({version}), run by `./dev conformance`, which writes this page. A result is right where it
agrees with the package's own to a thousandth (a hundredth in 16 bits). The forms: *static*, where operands that say how (axes,
pads, sizes, …) are initialisers, as exporters write them; *symbolic*, the same with symbols for the dimensions of inputs; *run-time*,
where all inputs are inputs. Each is compiled fused and not, for generated code alone and for oneDNN. Kernels: calls in the
compiled models of generated kernels, of kernels of libraries, and of the runtime's (NonZero and Unique, whose results are as large
as the data says). Checks: calls that compare indices and labels with what they index, or convert shapes. Nothing in a compiled
model is interpreted. Rows may be run on different days, of builds of the compiler between which it went on: what an earlier round gave
is *older*.

"""
TITLES = ["| set | form | fused | back end | cases | right | refused | wrong | generated kernels | of libraries | of the runtime | checks |",
          "| --- | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |"]
OLDER = " (older)"


def make_symbolic(folder):
    """Names the dimensions of the inputs of a model: equal numbers alike, 1 as it is, since it is broadcast."""
    path = folder / "model.onnx"
    model = onnx.load(path)
    constant = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constant or not value.type.tensor_type.HasField("shape"):
            continue
        for dim in value.type.tensor_type.shape.dim:
            if dim.HasField("dim_value") and dim.dim_value > 1:
                dim.dim_param = f"n{dim.dim_value}"
    onnx.save(model, path)


def light_cases(pattern, root):
    """The networks of set light, with random inputs and ONNX Runtime's results."""
    import compare
    import onnxruntime
    for name in compare.light.NAMES:
        if not re.search(pattern, name):
            continue
        folder = root / name
        folder.mkdir()
        onnx.save(compare.make.make(name, "small", None), folder / "model.onnx")
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
        feed = compare.random_inputs(session, {})
        for index, value in enumerate(session.get_inputs()):
            np.save(folder / f"{index}.npy", feed[value.name])
        yield name, folder, session.run(None, feed)


def prepare(name_of_set, form, pattern, root):
    """Folders of cases with what they must give, and verdicts of those that cannot be run."""
    pending, verdicts = {}, {}
    if name_of_set == "light":
        for name, folder, expected in light_cases(pattern, root):
            pending[name] = (folder, expected)
    else:
        for case in sorted((DATA / name_of_set).iterdir()):
            if not (case / "model.onnx").exists() or not re.search(pattern, case.name):
                continue
            folder = root / case.name
            try:
                expected = node_cases.prepare(case, "run-time" if form == "run-time" else "static", folder)
            except Exception as error:  # noqa: BLE001: files that numpy cannot hold
                expected = f"not read: {error}"
            if isinstance(expected, str):
                verdicts[case.name] = f"refused: {expected}"
            else:
                pending[case.name] = (folder, expected)
    if form == "symbolic":
        for folder, _ in pending.values():
            make_symbolic(folder)
    return pending, verdicts


def run(binary, name_of_set, form, mode, pattern):
    """Verdicts by case, and how many kernels of each kind the right ones have."""
    with tempfile.TemporaryDirectory() as temporary:
        pending, verdicts = prepare(name_of_set, form, pattern, pathlib.Path(temporary))
        node_cases.run(binary, mode, [folder for folder, _ in pending.values()])
        kernels = np.zeros(4, np.int64)
        for name, (folder, expected) in pending.items():
            verdicts[name] = node_cases.verdict(name, folder, expected)
            if not verdicts[name]:
                kernels += np.array((folder / "kernels.txt").read_text().split(), np.int64)
    return verdicts, kernels


def row(name_of_set, form, fused, backend, verdicts, kernels):
    right = sum(not verdict for verdict in verdicts.values())
    wrong = sum(node_cases.is_wrong(verdict) for verdict in verdicts.values())
    cells = [name_of_set, form, "yes" if fused else "no", backend, len(verdicts), right, len(verdicts) - right - wrong, wrong, *kernels]
    return "| " + " | ".join(map(str, cells)) + " |"


def plain_reason(verdict):
    """A verdict without the kind of its error and the names of one case."""
    text = re.sub(r"^(refused: |\w+Error: )*", "", verdict)
    text = re.sub(r"^the (\w+) node of '[^']*': ", r"\1: ", text)
    text = re.sub(r" \(domain [^)]*\): '.*|'[^']*'", "", text)
    return re.sub(r"  +", " ", text)[:140].strip()


def reasons(verdicts):
    """Why cases are refused, each reason with its cases."""
    by_reason = collections.defaultdict(list)
    for name, verdict in sorted(verdicts.items()):
        if verdict:
            by_reason[plain_reason(verdict)].append(name.removeprefix("test_"))
    lines = ["", "## Not claimed", "", "Of the node cases in the static form, and why:", ""]
    for reason, names in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"- {reason} ({len(names)}): {', '.join(names)}")
    return lines


def write(rows, reasons_now):
    """The page: these rows and reasons, and of what there are none the page's own."""
    def key(line):
        return tuple(cell.strip().removesuffix(OLDER) for cell in line.strip("|").split("|")[:4])

    there = TABLE.read_text() if TABLE.exists() else ""
    table = {key(line): line.replace(line.split("|")[1], f" {key(line)[0]}{OLDER} ", 1)
             for line in there.splitlines() if key(line)[0] in SETS}
    table |= {key(line): line for line in rows}
    order = [(s, form, fused, backend) for s in SETS for form in FORMS for fused in ("yes", "no") for backend in BACKENDS]
    if reasons_now is None:
        reasons_now = there[there.find("\n## ") :].rstrip("\n").split("\n") if "\n## " in there else []
    lines = [*TITLES, *(table[name] for name in order if name in table), *reasons_now]
    TABLE.write_text(HEADER.format(version=onnx.__version__) + "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    parser.add_argument("--form", action="append", choices=FORMS, dest="forms")
    parser.add_argument("--backend", action="append", choices=BACKENDS, dest="backends")
    parser.add_argument("--fused", action="store_true", help="only fused")
    parser.add_argument("--not-fused", action="store_true", help="only not fused")
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "run_cases")
    parser.add_argument("--write", action="store_true", help="writes the table and what is expected of each case")
    arguments = parser.parse_args()
    fusions = [fused for fused in (True, False) if not (arguments.not_fused if fused else arguments.fused)]
    lines = list(TITLES)
    print("\n".join(lines), flush=True)
    wrong, claimed = [], None
    for name_of_set in arguments.sets or SETS:
        for form in arguments.forms or FORMS:
            for fused in fusions:
                for backend in arguments.backends or BACKENDS:
                    mode = f"compile:{'fuse' if fused else 'no-fuse'}:{backend}"
                    verdicts, kernels = run(arguments.binary, name_of_set, form, mode, arguments.pattern)
                    lines.append(row(name_of_set, form, fused, backend, verdicts, kernels))
                    print(lines[-1], flush=True)
                    for name, verdict in verdicts.items():
                        if node_cases.is_wrong(verdict):
                            wrong.append(name)
                            print(f"WRONG {name}: {verdict[:160]}", flush=True)
                    if (name_of_set, form, fused, backend) == ("node", "static", True, "none"):
                        claimed = verdicts
    if arguments.write and not arguments.pattern:
        write(lines[len(TITLES) :], reasons(claimed) if claimed else None)
        if claimed is not None:
            node_cases.write_list(EXPECTED, claimed)
    sys.exit(5 if wrong else 0)


if __name__ == "__main__":
    main()
