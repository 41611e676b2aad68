"""What products may be rounded to."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import deuteron

DEPTH = 512


def product() -> tuple[onnx.ModelProto, np.ndarray, np.ndarray]:
    """A layer of a network for any number of rows, a row for it, and what comes out in float64."""
    rng = np.random.default_rng(3)
    weight = rng.standard_normal((DEPTH, 96)).astype(np.float32)
    x = rng.standard_normal((1, DEPTH)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", DEPTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 96])],
        [numpy_helper.from_array(weight, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), x, x.astype(np.float64) @ weight


@pytest.mark.parametrize(("precision", "unit"), [("bf16", 2.0**-9), ("f16", 2.0**-12)])
def test_weights_are_held_in_half_the_bytes(precision: str, unit: float) -> None:
    model, x, expected = product()
    options = {"threads": 1, "backend": "none", "target": "x86-64-v3"}
    exact = deuteron.compile(model, **options)
    narrow = deuteron.compile(model, precision=precision, **options)
    assert narrow.weight_bytes * 2 == exact.weight_bytes
    # Each product is off by half a unit at most, and errors of random signs add up as their root.
    error = np.abs(narrow(x)[0] - expected).max()
    assert error < 6 * unit * np.sqrt(DEPTH)
    assert error > np.abs(exact(x)[0] - expected).max()


def test_other_names_are_refused() -> None:
    model, _, _ = product()
    with pytest.raises(deuteron.UsageError, match='no precision "int7"; products are computed in f32, bf16 or f16'):
        deuteron.compile(model, precision="int7")
