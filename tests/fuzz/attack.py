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
# Of ONNX's operators, that the peer knows.
LAST_VERSION = 23
# What a service might allow: nothing that is asked for takes longer than SECONDS of the processor.
LIMITS = ["operations=3G", "run_bytes=512Mi", "compile_bytes=2Gi", "processor_seconds=10"]
SECONDS = 20
# Peers that work longer give no answer.
PEER_SECONDS = 10
# Of what ours differs by, what the peer may differ by from itself where inputs are a rounding off.
STEADY_PART = 0.05
# What the interpreter says of a kernel that constants are computed by: never the model's fault.
OUTSIDE = re.compile(r"^error ModelError: (index \S+ of axis .* is outside of|buffer .* reaches beyond|element .* is read before it is written)")
USERS = ("ModelError", "UnsupportedError", "UsageError")
CONFIG = {"mode": "fused", "backend": "none", "threads": 1, "target": "native"}
FAULTS = ("crash", "hang", "failed", "wrong", "nonsense")
# Of what is "wrong" by its name: why it is not.
KNOWN = (
    (r"TreeEnsemble, post_transform", "ONNX Runtime has LOGISTIC and SOFTMAX the other way round than ONNX's text, and the reference applies neither"),
    (r"(Hann|Hamming|Blackman)Window, operand 0, .* is 1$", "a symmetric window of one element is 0/0 by ONNX's formula and its first value here; Blackman's is a "
     "rounding of 0"),
    (r": Loop, operand 0, .* is (0|-[0-9]+)$", "what a body never run would gather: ONNX Runtime asks its inference for the extents, here unknown ones are 0"),
    (r"Pow, operand 0, .* is -?[0-9]{3,}$", "a result beyond its integers: a float that is cast saturates here, and is the machine's in the peers"),
    (r"TopK, sorted, ", "what is not 1 is 0 in ONNX Runtime, which is in no order that is said; here every result is in order"),
    (r"Resize, axes, .* is -[0-9]+$", "ONNX Runtime keeps no aspect ratio over axes that are counted from the end, and the reference has none such"),
    (r"ConvTranspose, strides, .* is [0-9]+$", "the input times the stride, ONNX's text, where windows are shorter; ONNX Runtime: what the windows cover"),
    (r"TfIdfVectorizer, max_skip_count, .* is [0-9]{10,}$", "ONNX Runtime counts one more than that many skips, which overflows"),
    (r"constant v[0-9]+: values \[\]", "Squeeze by a constant of no axes squeezes none, as the reference does"),
)


@dataclasses.dataclass
class Verdict:
    """"refused" by a user's error; "computed", where nothing is compared; "right", as ONNX Runtime's; "reference", as the standard's reference
    implementation and unlike ONNX Runtime; "unsteady", where roundings of the inputs change ONNX Runtime's as much; "known", a disagreement of KNOWN; "later",
    as ONNX Runtime computes it by a later version of the operators than the model names; "alone", where ONNX Runtime refuses a model that the standard's
    checker takes, or one that it only warns of. A fault is a "crash" by a signal, a "hang", "failed" by an internal error, a "wrong" result, or "nonsense"
    that the checker, too, says is none and is computed."""
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
        return f"is {ours.dtype}{list(ours.shape)}, the peer's {theirs.dtype}{list(theirs.shape)}"
    if ours.dtype.kind != "f":
        wrong = int((ours != theirs).sum())
        return f"has {wrong} of {ours.size} elements unlike the peer's" if wrong else None
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    finite = np.isfinite(theirs)
    if not np.array_equal(np.isfinite(ours), finite):
        return "is finite elsewhere than the peer's"
    scale = np.abs(theirs[finite]).max(initial=0)
    error = np.abs(ours[finite] - theirs[finite]).max(initial=0)
    return f"differs by {error:.2e}, the greatest is {scale:.2e}" if error > tolerance * max(scale, 1e-6) else None


def names_in(graph):
    """All that nodes of a graph and of those within read."""
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                yield from names_in(inner)


def sort(graph):
    """Puts every node behind those whose results it reads, as ONNX Runtime does; those of a cycle stay at the end."""
    made_by = {name: index for index, node in enumerate(graph.node) for name in node.output if name}
    left = dict(enumerate(graph.node))
    order = []
    while True:
        ready = [index for index, node in left.items() if not any(made_by.get(name, index) in left and made_by.get(name, index) != index
                                                                   for name in [*node.input, *(n for a in node.attribute for g in [a.g, *a.graphs] for n in names_in(g))])]
        if not ready:
            break
        order += [left.pop(index) for index in ready]
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in [*order, *left.values()]]
    del graph.node[:]
    graph.node.extend(nodes)


class Attack:
    def __init__(self, name, binary, scratch, keep, compares=True, checked=False):
        """`compares`: with what others make of a model. `checked`: every access of generated code is compared with its buffer."""
        self.name, self.scratch, self.keep, self.compares = name, pathlib.Path(scratch), keep, compares
        self.config = {**CONFIG, "mode": "checked"} if checked else CONFIG
        self.server = Server([binary, *LIMITS], SECONDS)
        program = pathlib.Path(__file__).with_name("peer.py")
        self.peer, self.reference, self.shaken = (Server([sys.executable, program, who], PEER_SECONDS) for who in ("peer", "reference", "shaken"))
        self.counts, self.signatures = collections.Counter(), collections.Counter()

    def close(self):
        self.server.stop()
        self.peer.stop()
        self.reference.stop()
        self.shaken.stop()

    def judge(self, data, inputs, tolerance=1e-3):
        """Of a model as bytes, with inputs in the order of the graph's."""
        for old in self.scratch.glob("[0-9]*"):
            shutil.rmtree(old)
        place = self.scratch / "0"
        place.mkdir(parents=True)
        (self.scratch / "model.onnx").write_bytes(data)
        for index, array in enumerate(inputs):
            np.save(place / f"{index}.npy", array)
        answer = self.server.answer(self.config, self.scratch)
        for prefix in ("crash", "hang"):
            if answer.startswith(prefix):
                return Verdict(prefix, answer)
        if answer != "ok":
            kind, text = answer.removeprefix("error ").split(": ", 1)
            return Verdict("refused" if kind in USERS and not OUTSIDE.search(answer) else "memory" if kind == "MemoryError" else "failed", answer)
        if not self.compares:
            return Verdict("computed", "")
        said = self.peer.ask(self.scratch)
        if said != "ok":
            return self.accepted_alone(data, said, place, tolerance)
        problem = self.disagreement(place, "peer", tolerance)
        if not problem:
            return Verdict("right", "")
        if self.is_reference(place, tolerance):
            return Verdict("reference", problem)
        return Verdict("unsteady" if "differs by" in problem and self.is_unsteady(place) else "wrong", problem)

    def is_reference(self, place, tolerance):
        """Whether the standard's reference implementation computes what was computed."""
        return self.reference.ask(self.scratch) == "ok" and any(place.glob("reference_*.npy")) and not self.disagreement(place, "reference", tolerance)

    def is_unsteady(self, place):
        """Whether roundings of the inputs make up a good part of what outputs differ by."""
        if self.shaken.ask(self.scratch) != "ok":
            return False
        for path in sorted(place.glob("peer_*.npy")):
            theirs, ours, shaken = (np.load(place / path.name.replace("peer", who), allow_pickle=True) for who in ("peer", "out", "shaken"))
            if theirs.dtype.kind != "f":
                continue
            off, moved = (np.abs(other.astype(np.float64) - theirs).max(initial=0) for other in (ours, shaken))
            if off > 0 and not moved <= STEADY_PART * off:  # what is no number any more has moved, too
                return True
        return False

    def later_version(self, data, place, tolerance):
        """The first later version of ONNX's operators by which the peer computes what was computed; None if there is none."""
        try:
            model = onnx.load_model_from_string(data)
        except Exception:  # noqa: BLE001: whatever it is that cannot be read
            return None
        for opset in model.opset_import:
            if opset.domain not in ("", "ai.onnx"):
                continue
            for version in range(max(opset.version, 6) + 1, LAST_VERSION + 1):
                opset.version = version
                (self.scratch / "model.onnx").write_bytes(model.SerializeToString())
                answer = self.peer.ask(self.scratch)
                (self.scratch / "model.onnx").write_bytes(data)
                if answer == "ok":
                    return None if self.disagreement(place, "peer", tolerance) else version
        return None

    @staticmethod
    def disagreement(place, who, tolerance):
        """Which output is another than the peer's, and how; None if none is."""
        for path in sorted(place.glob(f"{who}_*.npy")):
            ours = place / path.name.replace(who, "out")
            theirs = np.load(path, allow_pickle=True)
            if theirs.dtype.kind not in "fiub":
                continue
            problem = difference(np.load(ours) if ours.exists() else None, theirs, tolerance)
            if problem:
                return f"output {path.stem.removeprefix(f'{who}_')} {problem}"
        return None

    def accepted_alone(self, data, said, place, tolerance):
        try:
            model = onnx.load_model_from_string(data)
            sort(model.graph)
            onnx.checker.check_model(model, full_check=True)
        except Exception as error:  # noqa: BLE001: a model that cannot be read is one that does not hold
            # What a model says of the shapes of its results is advice, to ONNX Runtime as well.
            if "existing shape differ" in str(error):
                return Verdict("alone", said)
            if self.is_reference(place, tolerance):
                return Verdict("reference", said)
            version = self.later_version(data, place, tolerance)
            if version:
                return Verdict("later", f"operator set {version}")
            return Verdict("nonsense", f"ONNX Runtime: {said.rpartition('failed:')[2][:160]}; the checker: {' '.join(str(error).split())[:200]}")
        return Verdict("alone", said)

    def count(self, label, what, data, inputs, group="", tolerance=1e-3):
        """Judges, counts, and keeps what is a fault, the first of each kind in a group."""
        verdict = self.judge(data, inputs, tolerance)
        if verdict.kind == "wrong" and any(re.search(pattern, what) for pattern, _ in KNOWN):
            verdict.kind = "known"
        self.counts[verdict.kind] += 1
        signature = verdict.signature() + (f" ({group})" if group and verdict.kind in (*FAULTS, "alone") else "")
        self.signatures[signature] += 1
        if verdict.kind == "alone" and self.signatures[signature] == 1:
            print(f"{label}: {what}: {verdict.text}", flush=True)
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
