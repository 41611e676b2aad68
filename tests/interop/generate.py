"""Modules of every kind by seed; `KINDS` names them."""

import random

from tvm import relax

import graphs
import kernels
import operators
import statements

rt = relax.transform


def legalised(seed):
    rng = random.Random(seed)
    return rt.LegalizeOps()(graphs.random_graph(seed, families=graphs.LEGALISABLE, control_flow=rng.random() < 0.2, size=(2, 16)))


def annotated(seed):
    return rt.AnnotateTIROpPattern()(rt.DeadCodeElimination()(legalised(seed)))


def fused(seed):
    return rt.FuseOps(fuse_opt_level=2)(annotated(seed))


def single_operators(seed):
    return operators.operator_module(random.Random(seed).sample(sorted(operators.OPERATORS), 6))


KINDS = {
    "graph": lambda seed: graphs.random_graph(seed, symbolic=False),
    "symbolic": lambda seed: graphs.random_graph(seed, symbolic=True),
    "operators": single_operators,
    "statements": statements.random_statements,
    "legalised": legalised,
    "annotated": annotated,
    "fused": fused,
    "merged": lambda seed: rt.FuseTIR()(fused(seed)),
    "scheduled": kernels.scheduled,
    "written": kernels.written,
}


def module(seed):
    """A module and the name of its kind."""
    kind = list(KINDS)[seed % len(KINDS)]
    return kind, KINDS[kind](seed)
