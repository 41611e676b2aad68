import numpy as np
import onnxruntime as ort
print("ver" if ort.__version__ else "")
so = ort.SessionOptions()
so.intra_op_num_threads = 1
so.inter_op_num_threads = 1
so.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
so.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
so.log_severity_level = 3
so.enable_profiling = False
so.add_session_config_entry("session.intra_op.allow_spinning", "0")
so.add_session_config_entry("session.dynamic_block_base", "4")
print(so.get_session_config_entry("session.dynamic_block_base"))
so.enable_cpu_mem_arena = False
so.enable_mem_pattern = False
so.optimized_model_filepath = ""
available = ort.get_available_providers()
providers = [p for p in ["CUDAExecutionProvider", "CPUExecutionProvider"] if p in available]
assert "CPUExecutionProvider" in providers, available
s = ort.InferenceSession("model.onnx", sess_options=so, providers=[("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})])
i, o = s.get_inputs()[0], s.get_outputs()[0]
print(i.name, i.shape, i.type, o.name, o.shape, o.type)
assert s.get_providers()[-1] == "CPUExecutionProvider", s.get_providers()
print(s.get_provider_options().get("CPUExecutionProvider") is not None)
m = s.get_modelmeta()
print(m.producer_name, m.graph_name, m.domain, m.description, m.version, m.custom_metadata_map, m.graph_description)
x = np.random.default_rng(0).standard_normal([d if isinstance(d, int) else 1 for d in i.shape]).astype(np.float32)
ro = ort.RunOptions()
ro.log_severity_level = 4
y = s.run([o.name], {i.name: x}, ro)[0]
print(y.shape, y.dtype, float(np.round(y.sum(), 3)), int(y.argmax()))
y2 = s.run(None, {i.name: x}, run_options=ro)
print(len(y2), np.array_equal(y2[0], y))
try:
    s.run(None, {"nope": x})
except Exception as e:
    print("raised")
try:
    s.run(["nope"], {i.name: x})
except Exception as e:
    print("raised")
try:
    s.run(None, {i.name: x.astype(np.float64)})
except Exception as e:
    print("raised")
print(ort.get_device())
