"""What is wrong with an answer."""

import dataclasses
import re

import numpy as np

# Interpreted, and compiled by generated code: every network. One of the others in turn. A store beyond a buffer does not show in
# results unless what lies there is needed: so that accesses are checked too.
ALWAYS = [
    {"mode": "fused", "backend": "none", "threads": 1, "target": "native"},
    {"mode": "checked", "backend": "none", "threads": 1, "target": "native"},
]
INTERPRETED = {"mode": "interpret", "backend": "none", "threads": 1, "target": "native"}
IN_TURN = [
    {"mode": "fused", "backend": "dnnl", "threads": 2, "target": "native"},
    {"mode": "unfused", "backend": "none", "threads": 1, "target": "native"},
    {"mode": "once", "backend": "auto", "threads": 2, "target": "native"},
    {"mode": "fused", "backend": "none", "threads": 2, "target": "llvm -mcpu=x86-64-v3"},
    {"mode": "unfused", "backend": "dnnl", "threads": 1, "target": "native"},
    {"mode": "fused", "backend": "none", "threads": 1, "target": "llvm"},
    {"mode": "fused", "backend": "none", "threads": 2, "target": "llvm -mcpu=x86-64-v3 -l2-bytes=256K -l3-bytes=4M"},
    {"mode": "fused", "backend": "none", "threads": 2, "target": "native -l2-bytes=2M -l3-bytes=256M"},
]


@dataclasses.dataclass
class Verdict:
    """"refused", "failed" (an internal error), "crash", "hang" or "wrong"."""
    kind: str
    text: str
    config: dict

    def signature(self):
        """What failures of one cause have in common."""
        text = re.sub(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)", "…", self.text)
        return f"{self.kind}: {re.sub(r'[0-9.e+-]*[0-9]+', 'N', text)[:120]}"


# oneDNN's exponential and logarithm are accurate to some units of the last place more than ours.
LIBRARY_ROUNDOFF = {"dnnl": 2.0}


def describe(config):
    return "{mode}, back end {backend}, {threads} threads, {target}".format(**config)


def disagreement(result, expected, bound):
    """Why a result is not the one expected, or None. Each of both may be off by the bound."""
    if result is None:
        return "is missing"
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return f"is {result.dtype}{list(result.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind != "f":
        wrong = result != expected
        return f"has {int(wrong.sum())} of {wrong.size} elements wrong" if wrong.any() else None
    result, expected = result.astype(np.float64), expected.astype(np.float64)
    if not np.isfinite(result).all():
        return f"has {int((~np.isfinite(result)).sum())} of {result.size} elements that are no finite numbers"
    error = np.abs(result - expected).max(initial=0.0)
    if error > 2 * bound:
        return f"differs by {error:.2e} where {2 * bound:.2e} is allowed and {np.abs(expected).max(initial=0.0):.2e} is the greatest element"
    return None


def judge(answer, network, config):
    if isinstance(answer, str):
        for prefix, kind in (("crash", "crash"), ("hang", "hang"), ("error UnsupportedError", "refused"), ("error ModelError", "refused"), ("error UsageError", "refused")):
            if answer.startswith(prefix):
                return Verdict(kind, answer, config)
        return Verdict("failed", answer, config)
    for world, outputs in enumerate(answer):
        for index, result in enumerate(outputs):
            bound = network.bounds[world][index] * LIBRARY_ROUNDOFF.get(config["backend"], 1.0)
            problem = disagreement(result, network.expected[world][index], bound)
            if problem:
                return Verdict("wrong", f"output {network.model.graph.output[index].name} {problem}" + (f" (sizes {world})" if world else ""), config)
    return None
