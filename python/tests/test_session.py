import numpy as np
import pytest

import deuteron as ort
from conftest import reference


@pytest.fixture(scope="module")
def session(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def test_as_onnxruntime(model, session, x):
    onnxruntime = pytest.importorskip("onnxruntime")
    theirs = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for mine, other in zip(session.get_inputs() + session.get_outputs(), theirs.get_inputs() + theirs.get_outputs()):
        assert (mine.name, mine.type, mine.shape) == (other.name, other.type, other.shape)
    for names in (None, ["y"], []):
        for mine, other in zip(session.run(names, {"x": x}), theirs.run(names, {"x": x}), strict=True):
            assert np.array_equal(mine, other)
    mine, other = session.get_modelmeta(), theirs.get_modelmeta()
    for field in ("producer_name", "graph_name", "description", "domain", "custom_metadata_map"):
        assert getattr(mine, field) == getattr(other, field), field


def test_refused(session, x):
    with pytest.raises(ValueError, match='no input "q"'):
        session.run(None, {"q": x})
    with pytest.raises(ValueError, match='no output "q"; its outputs are "y"'):
        session.run(["q"], {"x": x})


def test_binding(session, x):
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    assert np.array_equal(binding.copy_outputs_to_cpu()[0], reference(x))
    result = np.empty((5, 4), np.float32)
    binding.clear_binding_outputs()
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    binding.bind_output("y", "cpu", 0, np.float32, result.shape, result.ctypes.data)
    session.run_with_iobinding(binding)
    assert np.array_equal(result, reference(x))
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert value.shape() == [5, 3] and value.data_type() == "tensor(float)" and value.numpy() is x
    binding.bind_ortvalue_input("x", value)
    session.run_with_iobinding(binding)
    with pytest.raises(ValueError, match='device "cuda"'):
        binding.bind_output("y", "cuda")


def test_options(path, x):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_free_dimension_override_by_name("n", 5)
    session = ort.InferenceSession(str(path), options)
    assert session.get_inputs()[0].shape == [5, 3] and session.executable.num_kernels == 2
    assert np.array_equal(session.run(None, {"x": x})[0], reference(x))


def test_artefact(path, x, tmp_path):
    ort.compile(path).save(tmp_path / "model.so")
    session = ort.InferenceSession(tmp_path / "model.so")
    assert np.array_equal(session.run(None, {"x": x})[0], reference(x))
