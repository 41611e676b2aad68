"""Compiles a model of the zoo, compares it with ONNX Runtime, times both, and keeps the verdict beside the model."""

import dataclasses
import functools
import hashlib
import json
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "onnx"), str(ROOT / "tests" / "networks")]
import compare  # noqa: E402
import variants  # noqa: E402

SECONDS = 300
"""Of the clock where nothing else runs; what compiles may take as many of the processor."""
PATIENCE = 20
"""By how much a machine with other work may be slower."""
# Networks of which the peer is known to be the one that errs: by how much results may differ then, and why.
PEER_ERRS = {
    "torchvision/maskrcnn_resnet50_fpn": (
        2e-2,
        "ONNX Runtime's first Resize works out positions in float32: 2.8e-5 of the greatest value off float64's, ours 1.8e-7",
    ),
}
# Operators whose results are random numbers.
DRAWN = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
# Of one alone, steps of quantisation that lie on an edge may fall as they did.
NUDGES = 5
THREADS = 2
KEPT = "verdict.json"


@dataclasses.dataclass
class Model:
    name: str
    form: str
    origin: str
    folder: pathlib.Path
    tolerance: float


@dataclasses.dataclass
class Verdict:
    """`problem` is empty where all is right; `kind` is "right", "refused", "wrong", "unsteady" (nobody's result can be told to
    be wrong: see `second_opinion`), or "no model". `made_by` says with what the model was compiled: see `identity`."""

    kind: str
    problem: str = ""
    operators: int = 0
    error: float = 0.0
    compile_ms: float = 0.0
    ours_ms: float = 0.0
    peer_ms: float = 0.0
    arena_mib: float = 0.0
    live_mib: float = 0.0
    made_by: str = ""


@functools.cache
def identity(binary, backend):
    """What a verdict depends on besides the model: the back end, and a digest of the compiler's files."""
    digest = hashlib.sha256()
    for path in (binary, *sorted((binary.parent.parent / "lib").glob("libdeuteron*.so"))):
        digest.update(path.read_bytes())
    return f"{backend} {digest.hexdigest()[:16]}"


def kept(model):
    """The verdict that an earlier run left, or none."""
    path = model.folder / KEPT
    try:
        return Verdict(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def keep(model, verdict):
    unfinished = model.folder / (KEPT + ".part")
    unfinished.write_text(json.dumps(dataclasses.asdict(verdict)))
    unfinished.rename(model.folder / KEPT)


def message(result):
    lines = [line for line in result.stderr.splitlines() if line.strip()] or ["no message"]
    found = next((line for line in lines if "rror" in line), lines[-1])
    return (f"signal {-result.returncode}: " if result.returncode < 0 else "") + found[:300]


def processor_seconds():
    """Of children that have ended. The clock would measure what else the machine does."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def worst_error(binary, artefact, feed, reference, folder):
    """Of one set of inputs; a text where results cannot be compared. `reference`: by output."""
    outputs = compare.run([str(binary), "run"], artefact, feed, folder)
    if isinstance(outputs, str):
        return outputs
    worst = 0.0
    for name, expected in reference.items():
        result = outputs.get(compare.file_name(name))
        if result is None:
            return f"output '{name}' is missing"
        error = compare.difference(result, expected)
        if isinstance(error, str):
            return f"output '{name}': {error}"
        worst = max(worst, error)
    return worst


def measured(binary, artefact, feed, session, folder):
    """Of a verdict: milliseconds of a run, ours and the peer's, alternately; MiB of the arena and of the tensors of known sizes
    that live in it at once."""
    inputs = []
    for index, (name, array) in enumerate(feed.items()):
        np.save(folder / f"{index}.npy", array)
        inputs += ["--input", f"{name}={folder / f'{index}.npy'}"]
    ours, peer = [], []
    session.run(None, feed)
    for _ in range(3):
        command = [str(binary), "bench", str(artefact), "--json", "--seconds", "0.15", *inputs]
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * SECONDS)
        if result.returncode != 0:
            return {}
        report = json.loads(result.stdout)
        ours.append(report["median_ms"])
        begin, runs = time.perf_counter(), []
        while len(runs) < 3 or time.perf_counter() - begin < 0.15:
            start = time.perf_counter()
            session.run(None, feed)
            runs.append(1e3 * (time.perf_counter() - start))
        peer.append(statistics.median(runs))
    return {"ours_ms": min(ours), "peer_ms": min(peer), "arena_mib": report["arena_mib"], "live_mib": report["live_mib"]}


def opened(path, folder, optimised=True):
    """ONNX Runtime's session of a model, three feeds, and its results of each, by output."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        # Else sums of products of bytes saturate on x86 without dot products.
        options.add_session_config_entry("session.x64quantprecision", "1")
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    # Exporters leave out inputs that nothing needs.
    wanted = {value.name for value in session.get_inputs()}
    feeds = [{name: array for name, array in dict(np.load(folder / name)).items() if name in wanted} for name in variants.INPUTS]
    names = [value.name for value in session.get_outputs()]
    return session, feeds, [dict(zip(names, session.run(names, feed))) for feed in feeds]


def greatest_difference(results, references):
    """Of two runs of the peer; infinite where shapes, integers or NaNs differ."""
    worst = 0.0
    for result, reference in zip(results, references):
        for name, expected in reference.items():
            error = compare.difference(result[name], expected)
            worst = max(worst, float("inf") if isinstance(error, str) else error)
    return worst


def nudge(array, seed):
    """Floats that are off by 2^-20 of themselves, up and down in turn (seed 0) or at random; other arrays as they are."""
    if array.dtype != np.float32:
        return array
    ups = np.arange(array.size) % 2 == 0 if seed == 0 else np.random.default_rng(seed).random(array.size) < 0.5
    signs = np.where(ups, 1, -1).reshape(array.shape)
    return (array * (1 + signs * 2.0**-20)).astype(np.float32)


def second_opinion(model, verdict, binary, artefact, feeds, references, folder):
    """The verdict on results that differ. ONNX Runtime without its optimisations computes the model as it is written: who agrees
    with that is right. Where it differs from itself no less, or from what it says of inputs a rounding error away, nobody can be
    told to be wrong: random weights make scores that are all but equal, which any rounding puts into another order, and small
    steps of quantisation that grow from layer to layer."""
    bound, reason = PEER_ERRS.get(model.name, (0.0, ""))
    if verdict.error <= bound:
        return dataclasses.replace(verdict, kind="unsteady", problem=reason)
    nodes = onnx.load(model.folder / "model.onnx", load_external_data=False).graph.node
    if drawn := sorted({node.op_type for node in nodes} & DRAWN):
        return dataclasses.replace(verdict, kind="unsteady", problem=f"{', '.join(drawn)} draws numbers, each library its own")
    session, _, plain = opened(model.folder / "model.onnx", model.folder, optimised=False)
    own = greatest_difference(plain, references)
    names = [value.name for value in session.get_outputs()]
    for seed in range(NUDGES):
        nudged = [dict(zip(names, session.run(names, {name: nudge(array, seed) for name, array in feed.items()}))) for feed in feeds]
        own = max(own, greatest_difference(nudged, plain))
    if own <= model.tolerance:
        return verdict
    errors = [worst_error(binary, artefact, feed, reference, folder) for feed, reference in zip(feeds, plain)]
    if all(not isinstance(error, str) and error <= model.tolerance for error in errors):
        return dataclasses.replace(verdict, kind="right", problem="", error=max(errors))
    if verdict.error > 2 * own:
        return verdict
    problem = f"differs by {verdict.error:.1e}; ONNX Runtime from itself, without its optimisations or with inputs off by 2^-20, by {own:.1e}"
    return dataclasses.replace(verdict, kind="unsteady", problem=problem)


def judge(model, binary, backend):
    failure = model.folder / "failure.txt"
    path = model.folder / "model.onnx"
    if failure.exists() or not path.exists():
        return Verdict("no model", failure.read_text().strip() if failure.exists() else "its model was not exported")
    operators = len(onnx.load(path, load_external_data=False).graph.node)
    try:
        session, feeds, references = opened(path, model.folder)
    except Exception as error:  # noqa: BLE001: whatever the runtime raises
        return Verdict("no model", f"ONNX Runtime: {str(error).splitlines()[0][:200]}", operators)
    with tempfile.TemporaryDirectory() as temporary:
        folder, artefact = pathlib.Path(temporary), pathlib.Path(temporary) / "model.so"
        begin = processor_seconds()
        command = [str(binary), "compile", str(path), "-o", str(artefact), "--backend", backend, "--progress", "none"]
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_CPU, (SECONDS, SECONDS))
        compiled = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * SECONDS, preexec_fn=limit)
        compile_ms = 1e3 * (processor_seconds() - begin)
        if -compiled.returncode in (signal.SIGKILL, signal.SIGXCPU) and compile_ms > 900 * SECONDS:
            return Verdict("refused", f"not compiled in {SECONDS} s", operators)
        if compiled.returncode != 0:
            return Verdict("refused", message(compiled), operators, compile_ms=compile_ms)
        worst = 0.0
        for feed, reference in zip(feeds, references):
            error = worst_error(binary, artefact, feed, reference, folder)
            if isinstance(error, str):
                if error.startswith("exit status"):
                    return Verdict("refused", error, operators, compile_ms=compile_ms)
                verdict = Verdict("wrong", error, operators, float("inf"), compile_ms)
                return second_opinion(model, verdict, binary, artefact, feeds, references, folder)
            worst = max(worst, error)
        figures = measured(binary, artefact, feeds[-1], session, folder)
        if worst <= model.tolerance:
            return Verdict("right", "", operators, worst, compile_ms, **figures)
        verdict = Verdict("wrong", "differs", operators, worst, compile_ms, **figures)
        return second_opinion(model, verdict, binary, artefact, feeds, references, folder)
