# profiling, optimized model path, exceptions by class, misc
import os

import numpy as np
import onnxruntime as ort
so = ort.SessionOptions()
so.enable_profiling = True
so.profile_file_prefix = "prof"
s = ort.InferenceSession("model.onnx", so)
x = np.zeros([d if isinstance(d, int) else 1 for d in s.get_inputs()[0].shape], np.float32)
for _ in range(3):
    s.run(None, {s.get_inputs()[0].name: x})
f = s.end_profiling()
print(os.path.exists(f), f.startswith("prof"))
import json
events = json.load(open(f))
ev = events if isinstance(events, list) else events["traceEvents"]
print(len(ev) > 5)
os.remove(f)
print(s.get_profiling_start_time_ns() > 0)
print(s.get_session_options().graph_optimization_level == ort.GraphOptimizationLevel.ORT_ENABLE_ALL)
s.disable_fallback()
s.enable_fallback()
s.set_providers(["CPUExecutionProvider"])
ort.set_default_logger_verbosity(0)
ort.set_seed(3)
ort.disable_telemetry_events()
ort.enable_telemetry_events()
print(type(ort.get_build_info()).__name__, type(ort.get_version_string()).__name__)
from onnxruntime import NodeArg, ModelMetadata, OrtDevice, SessionIOBinding
