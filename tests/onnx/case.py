"""What cases of single operators are made of."""

import dataclasses

import numpy as np

F, I = np.float32, np.int64


class Const:
    """An input that is an initialiser."""

    def __init__(self, value, dtype=None):
        self.value = np.asarray(value, dtype)


@dataclasses.dataclass
class Case:
    op: str
    """Constants and inputs of the run; None where one is left out."""
    inputs: list
    """The version of the operator's domain, or a whole model, or the text of one."""
    opset: object = 17
    """How many outputs there are, or their names ("" where one is left out)."""
    outputs: object = 1
    attributes: dict = dataclasses.field(default_factory=dict)
    domain: str = ""
    """By how many steps integers may differ."""
    steps: int = 0
    """By what share of the greatest element floats may."""
    tolerance: float = 1e-4
    """The outputs, where ONNX Runtime has no kernel for CPUs."""
    expected: list = None
    """Which elements of an output ONNX Runtime computes, rather than leaves as it finds its memory."""
    defined: object = None


def f(*shape, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng(seed + sum(shape)).uniform(low, high, shape).astype(F)


def i(*shape, high=5, low=0):
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(I)


def case(op, inputs, opset=17, outputs=1, **attributes):
    return Case(op, inputs, opset, outputs, attributes)


def contrib(op, inputs, outputs=1, steps=0, **attributes):
    # Of float16: what its eleven bits can hold, through a few operations.
    half = any(getattr(value, "dtype", None) == np.float16 for value in inputs)
    return Case(op, inputs, 1, outputs, attributes, "com.microsoft", steps, 2e-3 if half else 1e-4)


def graph(name, inputs, text, opset=17):
    return Case(name, inputs, f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]> {text}')


def ints(*values):
    return Const(values, I)
