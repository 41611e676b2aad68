"""What becomes of a model that may be nonsense: refused, or computed as ONNX Runtime computes it."""

import collections
import dataclasses
import pathlib
import re
import shutil
import sys

import numpy as np
import onnx
from server import Server

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = ROOT / "build" / "release" / "bin" / "serve_networks"
# What a service might allow: nothing that is asked for takes longer than SECONDS.
LIMITS = ["operations=3G", "run_bytes=512Mi", "compile_bytes=2Gi", "compile_seconds=10"]
SECONDS = 20
USERS = ("ModelError", "UnsupportedError", "UsageError")
CONFIG = {"mode": "fused", "backend": "none", "threads": 1, "target": "native"}
FAULTS = ("crash", "hang", "failed", "wrong", "nonsense")


@dataclasses.dataclass
class Verdict:
    """"refused" by a user's error; "right", as ONNX Runtime's; "alone", where that one refuses a model that the standard's checker takes, or one that
    it only warns of. A fault is a "crash" by a signal, a "hang", "failed" by an internal error, a "wrong" result, or "nonsense" that the checker, too,
    says is none and is computed."""
    kind: str
    text: str

    def signature(self):
        if self.kind in ("crash", "hang"):
            return self.kind
        return f"{self.kind}: {re.sub(r'[0-9]+', 'N', re.sub(r'[^ ]*/[^ ]*|[(][^)]*[)]', '…', self.text))[:110]}"


def difference(ours, theirs, tolerance):
    """Why one output is another than the peer's, or None. Numbers that are none, and infinities, have to stand at the same places."""
    if ours is None:
        return "is missing"
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"is {ours.dtype}{list(ours.shape)}, ONNX Runtime's {theirs.dtype}{list(theirs.shape)}"
    if ours.dtype.kind != "f":
        wrong = int((ours != theirs).sum())
        return f"has {wrong} of {ours.size} elements unlike ONNX Runtime's" if wrong else None
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    finite = np.isfinite(theirs)
    if not np.array_equal(np.isfinite(ours), finite):
        return "is finite elsewhere than ONNX Runtime's"
    scale = np.abs(theirs[finite]).max(initial=0)
    error = np.abs(ours[finite] - theirs[finite]).max(initial=0)
    return f"differs by {error:.2e}, the greatest is {scale:.2e}" if error > tolerance * max(scale, 1e-6) else None


class Attack:
    def __init__(self, name, binary, scratch, keep):
        self.name, self.scratch, self.keep = name, pathlib.Path(scratch), keep
        self.server = Server([binary, *LIMITS], SECONDS)
        self.peer = Server([sys.executable, pathlib.Path(__file__).with_name("peer.py")], 3 * SECONDS)
        self.counts, self.signatures = collections.Counter(), collections.Counter()

    def close(self):
        self.server.stop()
        self.peer.stop()

    def judge(self, data, inputs, tolerance=1e-3):
        """Of a model as bytes, with inputs in the order of the graph's."""
        for old in self.scratch.glob("[0-9]*"):
            shutil.rmtree(old)
        place = self.scratch / "0"
        place.mkdir(parents=True)
        (self.scratch / "model.onnx").write_bytes(data)
        for index, array in enumerate(inputs):
            np.save(place / f"{index}.npy", array)
        answer = self.server.answer(CONFIG, self.scratch)
        for prefix in ("crash", "hang"):
            if answer.startswith(prefix):
                return Verdict(prefix, answer)
        if answer != "ok":
            kind, text = answer.removeprefix("error ").split(": ", 1)
            return Verdict("refused" if kind in USERS else "memory" if kind == "MemoryError" else "failed", answer)
        said = self.peer.ask(self.scratch)
        if said != "ok":
            return self.accepted_alone(data, said)
        for path in sorted(place.glob("peer_*.npy")):
            ours = place / path.name.replace("peer", "out")
            theirs = np.load(path, allow_pickle=True)
            if theirs.dtype.kind not in "fiub":
                continue
            problem = difference(np.load(ours) if ours.exists() else None, theirs, tolerance)
            if problem:
                return Verdict("wrong", f"output {path.stem.removeprefix('peer_')} {problem}")
        return Verdict("right", "")

    @staticmethod
    def accepted_alone(data, said):
        try:
            onnx.checker.check_model(onnx.load_model_from_string(data), full_check=True)
        except Exception as error:  # noqa: BLE001: a model that cannot be read is one that does not hold
            # What a model says of the shapes of its results is advice, to ONNX Runtime as well.
            if "existing shape differ" in str(error):
                return Verdict("alone", said)
            return Verdict("nonsense", f"ONNX Runtime: {said.rpartition('failed:')[2][:160]}; the checker: {' '.join(str(error).split())[:200]}")
        return Verdict("alone", said)

    def count(self, label, what, data, inputs, group="", tolerance=1e-3):
        """Judges, counts, and keeps what is a fault, the first of each kind in a group."""
        verdict = self.judge(data, inputs, tolerance)
        self.counts[verdict.kind] += 1
        signature = verdict.signature() + (f" ({group})" if group and verdict.kind in FAULTS else "")
        self.signatures[signature] += 1
        if verdict.kind in FAULTS and self.signatures[signature] == 1:
            folder = self.keep / f"{self.name}-{label}"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.scratch, folder)
            (folder / "report.txt").write_text(f"{what}\n{verdict.kind}: {verdict.text}\n")
            print(f"{label}: {what}: {verdict.kind}: {verdict.text}", flush=True)
        return verdict

    def report(self):
        for signature, count in self.signatures.most_common():
            if not signature.startswith(("refused", "right")):
                print(f"{count:6} {signature}")
        print(f"{sum(self.counts.values())} models: " + ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items())))
        return sum(self.counts[kind] for kind in FAULTS)
