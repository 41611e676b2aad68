"""Networks as exporters, quantisers and optimisers write them, compared with ONNX Runtime.

    python tests/zoo/zoo.py [PATTERN] [--models DIR] [--binary PATH] [--backend NAME] [--no-variants] [--order SEED] [--seconds S]
                            [--again] [--accept-older] [--missing] [--write]

Exports what is missing below DIR (default: build/zoo/models), compiles each model once, runs the artefact on three sets of
inputs, and times both, alternately. Verdicts are kept beside the models: a run that was ended goes on where it was, and
judges only what the present compiler has not (--again: all; --accept-older: nothing that any compiler found right).
--order takes the models in a random order, --missing only those that the page has no row of, --seconds begins none after so many. --write puts the table of all verdicts there are into the page zoo.md of docs/,
which keeps what it says of other models.
The exit status is 5 where a result is wrong.

A result is right where it differs from ONNX Runtime's by at most TOLERANCE of the greatest value of that output; for
float16 and quantised models by what one rounding step more or less may make: FLOAT16 and QUANTISED. ONNX Runtime
without its optimisations is asked where results differ: see second_opinion in judge.py.
"""

import argparse
import importlib.metadata
import pathlib
import random
import re
import subprocess
import sys
import time

import numpy as np

import variants
from folders import folder_name
from judge import ROOT, THREADS, Model, identity, judge, keep, kept

HERE = ROOT / "tests" / "zoo"
PAGE = ROOT / "docs" / "zoo.md"
FLOAT16 = 2e-2
# Three of 256 steps of the greatest value, as tests/onnx/quantized.py.
QUANTISED = 3 / 128
# Exports that run ahead of the model that is judged.
AHEAD = 6
OTHER = {"script": "dynamo", "dynamo": "script"}
OLDER = " (older)"
NOTHING = "–"
HEADER = """# The zoo

Networks with random weights, run by `./dev zoo`, which writes this page: architectures of torchvision {torchvision}, timm {timm},
transformers {transformers}, diffusers {diffusers}, torchaudio and torch.nn, exported by torch {torch} (*dynamo*: its exporter by torch.export,
*script*: the one by TorchScript), with fixed sizes or with axes that differ between three runs of one artefact (*dynamic*); and forms
that ONNX Runtime's quantisers and optimisers make of some of them. Each is compiled once, run on three sets of inputs and compared with ONNX
Runtime {onnxruntime}: greatest difference as a share of the greatest value (*unsteady*: ONNX Runtime's own results, with and without its
optimisations or of inputs a rounding error apart, differ as much). Compiling is measured in seconds of processor time (in *older* rows, of the
clock); times of runs are medians of a few alternating rounds on {threads} threads, of a machine that is not quiet: they show where to look.
The arena is the memory of tensors of known sizes; the largest live set, of those that are needed at one time.

"""


class Exporter:
    """A process of export.py, to which keys (name, form, exporter) are sent ahead of their use."""

    def __init__(self, root):
        self.root = root
        self.sent = set()
        self.process = None

    def send(self, key):
        if key in self.sent or (self.root / folder_name(*key)).exists():
            return
        if self.process is None:
            command = [sys.executable, str(HERE / "export.py"), str(self.root)]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
            )
        self.sent.add(key)
        self.process.stdin.write("\t".join(key) + "\n")

    def folder(self, key):
        """The folder of a key, once it is finished."""
        self.send(key)
        path = self.root / folder_name(*key)
        while not path.exists() and self.process.stdout.readline():
            pass
        return path

    def close(self):
        """Ends the process; what was sent and not asked for stays undone."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def listed(root):
    """(name, form, tolerance, exporter) of all architectures; exporters take turns. Kept below `root`: torch is slow to load."""
    path = root / "list.tsv"
    if not path.exists() or path.stat().st_mtime < max(source.stat().st_mtime for source in HERE.glob("*.py")):
        root.mkdir(parents=True, exist_ok=True)
        lines = subprocess.run([sys.executable, str(HERE / "export.py"), "--list"], capture_output=True, text=True, check=True).stdout
        path.write_text(lines)
    return [(*line.split("\t"), ("dynamo", "script")[index % 2]) for index, line in enumerate(path.read_text().splitlines())]


def exported(entries, root, seconds):
    """The models of the entries in turn, exported by the other exporter where theirs fails; none after so many seconds."""
    exporter = Exporter(root)
    end = time.monotonic() + seconds
    for index, (name, form, tolerance, first) in enumerate(entries):
        if time.monotonic() > end:
            break
        for ahead in entries[index : index + 1 + AHEAD]:
            exporter.send((ahead[0], ahead[1], ahead[3]))
        model = Model(name, form, first, exporter.folder((name, form, first)), float(tolerance))
        if (model.folder / "failure.txt").exists():
            other = exporter.folder((name, form, OTHER[first]))
            if (other / "model.onnx").exists():
                model = Model(name, form, OTHER[first], other, float(tolerance))
        yield model
    exporter.close()


def already_exported(entries, root):
    """What `exported` gives, of the entries that an earlier run exported."""
    for name, form, tolerance, first in entries:
        folders = {exporter: root / folder_name(name, form, exporter) for exporter in (first, OTHER[first])}
        found = next((exporter for exporter in folders if (folders[exporter] / "model.onnx").exists()), first)
        if folders[found].exists():
            yield Model(name, form, found, folders[found], float(tolerance))


def derived(model, root, make=True):
    """The variants of a model; `make` writes those that are not there."""
    for kind in variants.OF.get(model.name, ()):
        folder = root / folder_name(model.name, model.form, model.origin + "-" + kind.replace(" ", "-").replace(",", ""))
        if make and not folder.exists() and (model.folder / "model.onnx").exists():
            command = [sys.executable, HERE / "variants.py", kind, model.folder, folder]
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tolerance = FLOAT16 if kind == "float16" else model.tolerance if "8" not in kind and "4" not in kind else QUANTISED
        if folder.exists():
            yield Model(model.name, model.form, kind, folder, tolerance)


def cells(model, verdict, made_by):
    """A row of the table."""
    return [
        model.name,
        model.form,
        model.origin,
        str(verdict.operators),
        verdict.kind + ("" if verdict.made_by == made_by or verdict.kind == "no model" else OLDER),
        f"{verdict.error:.1e}" if verdict.kind == "right" or verdict.problem == "differs" else " ".join(verdict.problem.replace("|", "/").split()),
        f"{verdict.compile_ms / 1e3:.1f}",
        f"{verdict.ours_ms:.2f}",
        f"{verdict.peer_ms:.2f}",
        f"{verdict.peer_ms / verdict.ours_ms:.2f}" if verdict.ours_ms else NOTHING,
        f"{verdict.arena_mib:.2f}" if verdict.live_mib else NOTHING,
        f"{verdict.arena_mib / verdict.live_mib:.2f}" if verdict.live_mib else NOTHING,
    ]


def line(row):
    """Files that messages name are those of the repository, wherever it lies."""
    return "| " + " | ".join(row).replace(f"{ROOT}/", "") + " |"


def compiling_now(rows):
    """Of what the present build compiled."""
    if rows:
        seconds = sorted(float(row[6]) for row in rows)
        yield (
            f"Of the {len(rows)} that this build has compiled: {seconds[len(rows) // 2]:.1f} s in the median, {seconds[-1]:.1f} s at most, "
            f"above 2 s {sum(s > 2 for s in seconds)}."
        )


def summary(rows):
    models = [row for row in rows if row[4] != "no model"]
    kinds = [row[4].removesuffix(OLDER) for row in models]
    lines = [
        f"{len(models)} models of {len({row[0] for row in models})} architectures: {kinds.count('right')} right, "
        f"{kinds.count('refused')} refused, {kinds.count('wrong')} wrong, {kinds.count('unsteady')} unsteady; "
        f"{len(rows) - len(models)} that an exporter or ONNX Runtime refuses do not count."
    ]
    older = sum(row[4].endswith(OLDER) for row in models)
    if older:
        lines.append(f"{older} were judged with an earlier build of the compiler (*older*).")
    timed = [row for row, kind in zip(models, kinds) if kind == "right" and row[9] != NOTHING]
    if timed:
        ratios = [float(row[9]) for row in timed]
        compiled = sorted(float(row[6]) for row in timed)
        lines.append(
            f"ONNX Runtime's time over ours: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, least {min(ratios):.2f}. "
            f"Compiling takes {compiled[len(compiled) // 2]:.1f} s in the median, {compiled[len(compiled) * 9 // 10]:.1f} s at the ninth decile."
        )
        lines += compiling_now([row for row in timed if not row[4].endswith(OLDER)])
    planned = sorted(float(row[11]) for row in models if row[11] != NOTHING)
    if planned:
        lines.append(
            f"The arena of {len(planned)} models over the most that lives in it at once: {planned[len(planned) // 2]:.2f} in the median, "
            f"{planned[-1]:.2f} at most, above 1.10 of {sum(ratio > 1.1 for ratio in planned)}."
        )
    return "\n".join(lines)


def rows_of_page(page):
    """What the page says already: of models judged on other machines, too."""
    for text in page.read_text().splitlines() if page.exists() else ():
        row = [cell.strip() for cell in text.strip("|").split("|")]
        if "/" in row[0] and len(row) in (10, 12):
            row += [NOTHING] * (12 - len(row))
            if row[4] != "no model":
                row[4] = row[4].removesuffix(OLDER) + OLDER
            yield row


def write(entries, root, made_by):
    """The page: all verdicts that are kept, and of other models those that it has."""
    rows = {tuple(row[:3]): row for row in rows_of_page(PAGE)}
    exports = {(name, form) for name, form, *_ in entries}
    rows = {key: row for key, row in rows.items() if key[:2] in exports}
    models = [model for first in already_exported(entries, root) for model in (first, *derived(first, root, make=False))]
    for model in models:
        if (verdict := kept(model)) is not None:
            row = cells(model, verdict, made_by)
            if model.origin in OTHER:
                rows.pop((model.name, model.form, OTHER[model.origin]), None)
            rows[tuple(row[:3])] = row
    missing = len(exports - {key[:2] for key in rows if key[2] in OTHER})
    versions = {
        name: importlib.metadata.version(name) for name in ("torch", "torchvision", "timm", "transformers", "diffusers", "onnxruntime")
    }
    order = {"wrong": 0, "refused": 1, "unsteady": 2, "right": 3, "no model": 4}
    table = [
        "| network | form | made by | operators | verdict | error, or why not | compile s | ms | ONNX Runtime ms | ratio | arena MiB | of the largest live set |",
        "| --- | --- | --- | --: | --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    table += map(line, sorted(rows.values(), key=lambda row: (order[row[4].removesuffix(OLDER)], *row[:3])))
    text = HEADER.format(threads=THREADS, **versions) + summary(rows.values())
    if missing:
        text += f"\n{missing} of the {len(entries)} exports were not run yet."
    PAGE.write_text(text + "\n\n" + "\n".join(table) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build" / "zoo" / "models")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "deuteron")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--no-variants", action="store_true")
    parser.add_argument("--order", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--accept-older", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    made_by = identity(arguments.binary.resolve(), arguments.backend)
    entries = listed(arguments.models)
    wanted = [entry for entry in entries if re.search(arguments.pattern, entry[0])]
    if arguments.missing:
        there = {(row[0], row[1]) for row in rows_of_page(PAGE) if row[2] in OTHER}
        wanted = [entry for entry in wanted if entry[:2] not in there]
    if arguments.order is not None:
        random.Random(arguments.order).shuffle(wanted)
    results = []
    for first in exported(wanted, arguments.models, arguments.seconds):
        for model in (first, *(() if arguments.no_variants else derived(first, arguments.models))):
            verdict = kept(model)
            is_current = verdict is not None and verdict.kind != "wrong" and (verdict.made_by == made_by or (arguments.accept_older and verdict.kind == "right"))
            if arguments.again or not is_current:
                verdict = judge(model, arguments.binary, arguments.backend)
                verdict.made_by = made_by
                keep(model, verdict)
            results.append(cells(model, verdict, made_by))
            print(line(results[-1]), flush=True)
    print(summary(results))
    if arguments.write:
        write(entries, arguments.models, made_by)
    sys.exit(5 if any(row[4] == "wrong" for row in results) else 0)


if __name__ == "__main__":
    main()
