"""Networks as exporters, quantisers and optimisers write them, compared with ONNX Runtime.

    python tests/zoo/zoo.py [PATTERN] [--models DIR] [--binary PATH] [--backend NAME] [--no-variants] [--write]

Exports what is missing below DIR (default: build/zoo), compiles each model once, runs the artefact on three sets of inputs,
and times both, alternately. --write puts the table into the page zoo.md of docs/, if all were run. The exit status is 5 where a result is wrong.

A result is right where it differs from ONNX Runtime's by at most TOLERANCE of the greatest value of that output; for
float16 and quantised models by what one rounding step more or less may make: FLOAT16 and QUANTISED.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests" / "zoo"
sys.path[:0] = [str(ROOT / "tests" / "onnx"), str(ROOT / "tests" / "networks")]
import compare  # noqa: E402
import variants  # noqa: E402

FLOAT16 = 2e-2
# Three of 256 steps of the greatest value, as tests/onnx/quantized.py.
QUANTISED = 3 / 128
SECONDS = 300
HEADER = """# The zoo

Networks with random weights, run by `./dev zoo`, which writes this page: architectures of torchvision {torchvision}, timm {timm},
transformers {transformers}, diffusers {diffusers}, torchaudio and torch.nn, exported by torch {torch} (*dynamo*: its exporter by torch.export,
*script*: the one by TorchScript), with fixed sizes or with axes that differ between three runs of one artefact (*dynamic*); and forms
that ONNX Runtime's quantisers and optimisers make of some of them. Each is compiled once, run on three sets of inputs and compared with ONNX
Runtime {onnxruntime}: greatest difference as a share of the greatest value. Times are medians of a few alternating rounds on {threads} threads, of a
machine that is not quiet: they show where to look.

"""


@dataclasses.dataclass
class Model:
    name: str
    form: str
    origin: str
    folder: pathlib.Path
    tolerance: float


@dataclasses.dataclass
class Verdict:
    """`problem` is empty where all is right; `kind` is "right", "refused", "wrong", or "no model"."""

    kind: str
    problem: str = ""
    operators: int = 0
    error: float = 0.0
    compile_ms: float = 0.0
    ours_ms: float = 0.0
    peer_ms: float = 0.0


def python(*arguments, **options):
    return subprocess.run([sys.executable, *map(str, arguments)], **options)


def folder_name(name, form, origin):
    return re.sub(r"[^A-Za-z0-9_.]+", "-", name) + f"-{form}-{origin}"


def exported(pattern, root):
    """The architectures whose name matches, exported by the exporters in turn, or by the other where that fails."""
    lines = python(HERE / "export.py", "--list", capture_output=True, text=True, check=True).stdout.splitlines()
    entries = [line.split("\t") for line in lines]
    wanted = [(*entry, ("script", "dynamo")[index % 2]) for index, entry in enumerate(entries) if re.search(pattern, entry[0])]
    for other in (False, True):
        keys = [
            (name, form, {"script": "dynamo", "dynamo": "script"}[exporter] if other else exporter) for name, form, _, exporter in wanted
        ]
        if other:
            keys = [
                key
                for key, (name, form, _, exporter) in zip(keys, wanted)
                if (root / folder_name(name, form, exporter) / "failure.txt").exists()
            ]
        python(
            HERE / "export.py", root, input="".join("\t".join(key) + "\n" for key in keys), text=True, stderr=subprocess.DEVNULL, check=True
        )
    for name, form, tolerance, exporter in wanted:
        first = root / folder_name(name, form, exporter)
        other = {"script": "dynamo", "dynamo": "script"}[exporter]
        second = root / folder_name(name, form, other)
        if (first / "failure.txt").exists() and (second / "model.onnx").exists():
            first, exporter = second, other
        yield Model(name, form, exporter, first, float(tolerance))


def derived(models, root):
    for model in models:
        for kind in variants.OF.get(model.name, ()):
            folder = root / folder_name(model.name, model.form, model.origin + "-" + kind.replace(" ", "-").replace(",", ""))
            if not folder.exists() and (model.folder / "model.onnx").exists():
                python(HERE / "variants.py", kind, model.folder, folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            tolerance = FLOAT16 if kind == "float16" else model.tolerance if "8" not in kind and "4" not in kind else QUANTISED
            yield Model(model.name, model.form, kind, folder, tolerance)


def message(result):
    lines = [line for line in result.stderr.splitlines() if line.strip()] or ["no message"]
    found = next((line for line in lines if "rror" in line), lines[-1])
    return (f"signal {-result.returncode}: " if result.returncode < 0 else "") + found[:300]


def worst_error(binary, artefact, feed, session, folder):
    """Of one set of inputs; a text where results cannot be compared."""
    reference = session.run(None, feed)
    outputs = compare.run([str(binary), "run"], artefact, feed, folder)
    if isinstance(outputs, str):
        return outputs
    worst = 0.0
    for value, expected in zip(session.get_outputs(), reference):
        result = outputs.get(compare.file_name(value.name))
        if result is None:
            return f"output '{value.name}' is missing"
        error = compare.difference(result, expected)
        if isinstance(error, str):
            return f"output '{value.name}': {error}"
        worst = max(worst, error)
    return worst


def times(binary, artefact, feed, session, folder):
    """Milliseconds of a run, ours and the peer's, alternately."""
    inputs = []
    for index, (name, array) in enumerate(feed.items()):
        np.save(folder / f"{index}.npy", array)
        inputs += ["--input", f"{name}={folder / f'{index}.npy'}"]
    ours, peer = [], []
    session.run(None, feed)
    for _ in range(3):
        command = [str(binary), "bench", str(artefact), "--json", "--seconds", "0.15", *inputs]
        result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        if result.returncode != 0:
            return 0.0, 0.0
        ours.append(json.loads(result.stdout)["median_ms"])
        begin, runs = time.perf_counter(), []
        while len(runs) < 3 or time.perf_counter() - begin < 0.15:
            start = time.perf_counter()
            session.run(None, feed)
            runs.append(1e3 * (time.perf_counter() - start))
        peer.append(statistics.median(runs))
    return min(ours), min(peer)


def judge(model, binary, backend):
    failure = model.folder / "failure.txt"
    if failure.exists() or not (model.folder / "model.onnx").exists():
        return Verdict("no model", failure.read_text().strip() if failure.exists() else "its model was not exported")
    path = model.folder / "model.onnx"
    operators = len(onnx.load(path, load_external_data=False).graph.node)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 4
    feeds = [dict(np.load(model.folder / name)) for name in variants.INPUTS]
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        # Exporters leave out inputs that nothing needs.
        wanted = {value.name for value in session.get_inputs()}
        feeds = [{name: array for name, array in feed.items() if name in wanted} for feed in feeds]
        session.run(None, feeds[0])
    except Exception as error:  # noqa: BLE001: whatever the runtime raises
        return Verdict("no model", f"ONNX Runtime: {str(error).splitlines()[0][:200]}", operators)
    with tempfile.TemporaryDirectory() as temporary:
        folder, artefact = pathlib.Path(temporary), pathlib.Path(temporary) / "model.so"
        begin = time.perf_counter()
        command = [str(binary), "compile", str(path), "-o", str(artefact), "--backend", backend, "--progress", "none"]
        try:
            compiled = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Verdict("refused", f"not compiled in {SECONDS} s", operators)
        compile_ms = 1e3 * (time.perf_counter() - begin)
        if compiled.returncode != 0:
            return Verdict("refused", message(compiled), operators, compile_ms=compile_ms)
        worst = 0.0
        for feed in feeds:
            error = worst_error(binary, artefact, feed, session, folder)
            if isinstance(error, str):
                refused = error.startswith("exit status")
                return Verdict("refused" if refused else "wrong", error, operators, compile_ms=compile_ms)
            worst = max(worst, error)
        ours, peer = times(binary, artefact, feeds[-1], session, folder)
        right = worst <= model.tolerance
        return Verdict("right" if right else "wrong", "" if right else "differs", operators, worst, compile_ms, ours, peer)


def row(model, verdict):
    ratio = f"{verdict.peer_ms / verdict.ours_ms:.2f}" if verdict.ours_ms else "–"
    cells = [
        model.name,
        model.form,
        model.origin,
        verdict.operators,
        verdict.kind,
        f"{verdict.error:.1e}" if verdict.kind in ("right", "wrong") else verdict.problem.replace("|", "\\|"),
        f"{verdict.compile_ms / 1e3:.1f}",
        f"{verdict.ours_ms:.2f}",
        f"{verdict.peer_ms:.2f}",
        ratio,
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def summary(results):
    models = [(model, verdict) for model, verdict in results if verdict.kind != "no model"]
    right = [(model, verdict) for model, verdict in models if verdict.kind == "right"]
    lines = [
        f"{len(models)} models of {len({model.name for model, _ in models})} architectures: {len(right)} right, "
        f"{sum(verdict.kind == 'refused' for _, verdict in models)} refused, {sum(verdict.kind == 'wrong' for _, verdict in models)} wrong; "
        f"{len(results) - len(models)} that an exporter or ONNX Runtime refuses do not count."
    ]
    timed = [verdict for _, verdict in right if verdict.ours_ms]
    if timed:
        ratios = [verdict.peer_ms / verdict.ours_ms for verdict in timed]
        compiled = sorted(verdict.compile_ms for verdict in timed)
        lines.append(
            f"ONNX Runtime's time over ours: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, least {min(ratios):.2f}. "
            f"Compiling takes {compiled[len(compiled) // 2] / 1e3:.1f} s in the median, {compiled[len(compiled) * 9 // 10] / 1e3:.1f} s at the ninth decile."
        )
    return "\n".join(lines)


def write(results, threads):
    import importlib.metadata

    versions = {
        name: importlib.metadata.version(name) for name in ("torch", "torchvision", "timm", "transformers", "diffusers", "onnxruntime")
    }
    order = {"wrong": 0, "refused": 1, "right": 2, "no model": 3}
    table = [
        "| network | form | made by | operators | verdict | error, or why not | compile s | ms | ONNX Runtime ms | ratio |",
        "| --- | --- | --- | --: | --- | --- | --: | --: | --: | --: |",
    ]
    table += [row(model, verdict) for model, verdict in sorted(results, key=lambda item: order[item[1].kind])]
    text = HEADER.format(threads=threads, **versions) + summary(results) + "\n\n" + "\n".join(table) + "\n"
    (ROOT / "docs" / "zoo.md").write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build" / "zoo" / "models")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "deuteron")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--no-variants", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    models = list(exported(arguments.pattern, arguments.models))
    if not arguments.no_variants:
        models += list(derived(models, arguments.models))
    results = []
    for model in models:
        verdict = judge(model, arguments.binary, arguments.backend)
        results.append((model, verdict))
        print(row(model, verdict), flush=True)
    print(summary(results))
    if arguments.write and not arguments.pattern:
        write(results, 2)
    sys.exit(5 if any(verdict.kind == "wrong" for _, verdict in results) else 0)


if __name__ == "__main__":
    main()
