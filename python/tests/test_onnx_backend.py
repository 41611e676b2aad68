"""The onnx package's own runner drives the library."""

import unittest

import onnx.backend.test

import deuteron.onnx_backend

CASES = ["relu", "softmax_axis_0", "matmul_2d", "lstm_defaults", "identity_sequence", "if_seq", "optional_get_element_optional_tensor"]


def test_runner():
    tests = onnx.backend.test.BackendTest(deuteron.onnx_backend, __name__)
    tests.include(f"^test_({'|'.join(CASES)})_cpu$")
    result = unittest.TestResult()
    tests.test_suite.run(result)
    assert not result.failures and not result.errors, [text for _, text in result.failures + result.errors]
    assert result.testsRun - len(result.skipped) == len(CASES)


def test_run_node():
    import numpy as np

    node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
    [result] = deuteron.onnx_backend.run_node(node, [np.ones((2, 3), np.float32), np.full((3,), 2, np.float32)])
    assert np.array_equal(result, np.full((2, 3), 3, np.float32))
    assert deuteron.onnx_backend.supports_device("CPU:0") and not deuteron.onnx_backend.supports_device("CUDA")
