import pathlib
import queue
import subprocess
import sys

import numpy as np
import onnx
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


SCRIPTS = sorted((pathlib.Path(__file__).parent / "onnxruntime_scripts").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_run_by_changing_the_import(script, model, tmp_path):
    """Each prints what it sees, which is the same with both; what ONNX Runtime calls its own it does not print."""
    pytest.importorskip("onnxruntime")
    onnx.save(model, tmp_path / "model.onnx")
    text = script.read_text()
    changed = text.replace("import onnxruntime as ", "import deuteron as ").replace("from onnxruntime import ", "from deuteron import ")
    assert changed != text
    printed = []
    for each in (text, changed.replace("import onnxruntime\n", "import deuteron as onnxruntime\n")):
        ran = subprocess.run([sys.executable, "-c", each], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        printed.append(ran.stdout)
    assert printed[0] == printed[1]


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
    result[:] = 0
    binding.bind_output("y", shape=result.shape, buffer_ptr=result.ctypes.data)
    session.run_with_iobinding(binding)
    assert np.array_equal(result, reference(x))
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


def test_async(session, x):
    done = queue.Queue()
    session.run_async(["y"], {"x": x}, lambda *result: done.put(result), "mine")
    results, data, error = done.get(timeout=60)
    assert np.array_equal(results[0], reference(x)) and data == "mine" and error == ""
    session.run_async(None, {"q": x}, lambda *result: done.put(result), None)
    results, data, error = done.get(timeout=60)
    assert results == [] and 'no input "q"' in error


def script_of_a_user(module, model, x):
    """What scripts for ONNX Runtime do; what comes of it, but for the names of providers."""
    module.set_default_logger_severity(3)
    module.set_seed(1)
    options = module.SessionOptions()
    options.graph_optimization_level = module.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = module.ExecutionMode.ORT_SEQUENTIAL
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    run_options = module.RunOptions()
    run_options.add_run_config_entry("disable_synchronize_execution_providers", "1")
    assert set(module.get_available_providers()) <= set(module.get_all_providers()) and module.get_device() and module.__version__
    session = module.InferenceSession(model, options, providers=[("CPUExecutionProvider", {})], disabled_optimizers=None)
    session.disable_fallback()
    assert session.get_session_options().get_session_config_entry("session.intra_op.allow_spinning") == "0"
    value = module.OrtValue.ortvalue_from_shape_and_type(list(x.shape), np.float32)
    value.update_inplace(x)
    bound = session.io_binding()
    bound.bind_ortvalue_input("x", value)
    bound.bind_output("y")
    session.run_with_iobinding(bound, run_options)
    [ort_value] = session.run_with_ort_values(["y"], {"x": module.OrtValue.ortvalue_from_numpy(x)}, run_options)
    return [
        session.run([each.name for each in session.get_outputs()], {"x": x}, run_options)[0].tolist(),
        bound.copy_outputs_to_cpu()[0].tolist(),
        bound.get_outputs()[0].numpy().tolist(),
        ort_value.numpy().tolist(),
        [value.element_type(), value.data_type(), value.shape(), value.device_name(), value.tensor_size_in_bytes()],
        [value.is_tensor(), value.has_value(), value.is_sparse_tensor(), value.is_tensor_sequence()],
        [len(session.get_overridable_initializers()), session.get_modelmeta().version, session.get_modelmeta().graph_description],
    ]


def test_a_script_of_a_user(model, x):
    onnxruntime = pytest.importorskip("onnxruntime")
    given = model.SerializeToString()
    assert script_of_a_user(ort, given, x) == script_of_a_user(onnxruntime, given, x)


def test_what_is_not_there(session):
    assert session.end_profiling() == ""
    with pytest.raises(ort.UnsupportedError, match="custom-operators.md"):
        ort.SessionOptions().register_custom_ops_library("ops.so")


def test_sequences_are_lists():
    onnxruntime = pytest.importorskip("onnxruntime")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [helper.make_node("SequenceConstruct", ["x", "x"], ["s"]), helper.make_node("Neg", ["x"], ["y"])]
    outputs = [helper.make_tensor_sequence_value_info("s", kind, None), helper.make_tensor_value_info("y", kind, ["n"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, ["n"])], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()
    x = np.arange(3, dtype=np.float32)
    mine, theirs = (library.InferenceSession(model, providers=["CPUExecutionProvider"]) for library in (ort, onnxruntime))
    assert [(each.name, each.type) for each in mine.get_outputs()] == [(each.name, each.type) for each in theirs.get_outputs()]
    for names in (None, ["y", "s"]):
        for result, expected in zip(mine.run(names, {"x": x}), theirs.run(names, {"x": x}), strict=True):
            assert type(result) is type(expected) and np.array_equal(result, expected)


def test_a_dimension_of_two_inputs():
    """It has its own name wherever it is."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info(name, kind, ["n", 2]) for name in ("a", "b")]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "g", inputs, [helper.make_tensor_value_info("y", kind, ["n", 2])])
    session = ort.InferenceSession(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString())
    assert [each.shape for each in session.get_inputs() + session.get_outputs()] == [["n", 2]] * 3
    with pytest.raises(ort.UsageError, match="n of input 'a' = 3"):
        session.run(None, {"a": np.zeros((3, 2), np.float32), "b": np.zeros((4, 2), np.float32)})


def test_what_is_wrong_is_said(session, x):
    options, run_options = ort.SessionOptions(), ort.RunOptions()
    with pytest.raises(AttributeError):
        options.intra_op_numthreads = 1
    with pytest.raises(TypeError, match="intra_op_num_threads is a number"):
        options.intra_op_num_threads = "2"
    with pytest.raises(RuntimeError, match="no configuration entry"):
        options.get_session_config_entry("session.nothing")
    with pytest.raises(ort.UnsupportedError, match='initialiser "w"'):
        options.add_initializer("w", None)
    with pytest.raises(TypeError, match="list of names"):
        session.run("y", {"x": x})
    binding = session.io_binding()
    with pytest.raises(ort.UsageError, match='no input "nothing"'):
        binding.bind_cpu_input("nothing", x)
    with pytest.raises(ort.UsageError, match='no output "nothing"'):
        binding.bind_output("nothing")
    binding.bind_cpu_input("x", x)
    with pytest.raises(ort.UsageError, match="no output is bound"):
        session.run_with_iobinding(binding)
    run_options.terminate = True
    with pytest.raises(ort.DeuteronError, match="terminate"):
        session.run(None, {"x": x}, run_options)


def test_external_data_of_bytes(x, model, tmp_path, monkeypatch):
    """Looked for in the folder that the session's entry names, as ONNX Runtime does; else in the working folder."""
    onnxruntime = pytest.importorskip("onnxruntime")
    (tmp_path / "weights").mkdir()
    external = onnx.ModelProto()
    external.CopyFrom(model)
    onnx.save(external, tmp_path / "weights" / "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    given = (tmp_path / "weights" / "model.onnx").read_bytes()
    monkeypatch.chdir(tmp_path)
    for library in (ort, onnxruntime):
        options = library.SessionOptions()
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(tmp_path / "weights"))
        session = library.InferenceSession(given, options, providers=["CPUExecutionProvider"])
        assert np.array_equal(session.run(None, {"x": x})[0], reference(x))
    with pytest.raises(ort.ModelError, match="w.bin"):
        ort.InferenceSession(given)
    message = onnx.load(tmp_path / "weights" / "model.onnx", load_external_data=False)
    assert np.array_equal(ort.compile(message, folder=tmp_path / "weights")(x)[0], reference(x))
    assert ort.verify(given, folder="weights").ok and ort.explain(message, folder="weights").operators == 2
    monkeypatch.chdir(tmp_path / "weights")
    assert np.array_equal(ort.compile(given)(x)[0], reference(x))


def test_options_of_other_models(model, x, tmp_path):
    """Scripts for many models override dimensions that only some have: heeded where they are, said where not."""
    options = ort.SessionOptions()
    for name, size in {"n": 5, "batch": 1, "x": 2}.items():
        options.add_free_dimension_override_by_name(name, size)
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    onnx.save(model, tmp_path / "model.onnx")
    for given in (model.SerializeToString(), tmp_path / "model.onnx"):
        with pytest.warns(RuntimeWarning) as seen:
            session = ort.InferenceSession(given, options)
        assert [str(each.message).split(" is not heeded")[0] for each in seen] == [
            "optimized_model_filepath", 'the override of the dimension "batch"', 'the override of the dimension "x"'
        ]  # fmt: skip
        assert {each.filename for each in seen} == {__file__}
        assert session.get_inputs()[0].shape == [5, 3] and np.array_equal(session.run(None, {"x": x})[0], reference(x))


def test_values_that_are_no_arrays():
    for value in ([1.0], np.float32(1), 1.0):
        with pytest.raises(ort.UsageError, match="array of numpy"):
            ort.OrtValue.ortvalue_from_numpy(value)
