import onnxruntime
from onnxruntime import InferenceSession, SessionOptions, GraphOptimizationLevel, get_available_providers, OrtValue, IOBinding, RunOptions, ExecutionMode, ModelMetadata, NodeArg, get_all_providers, get_device, set_default_logger_severity, set_seed, OrtDevice
import numpy as np
import onnx
from onnx import helper as h, TensorProto as T
set_default_logger_severity(3)
g = h.make_graph([h.make_node("Add", ["a", "b"], ["c"]), h.make_node("Cast", ["c"], ["d"], to=T.INT64)], "g",
  [h.make_tensor_value_info("a", T.FLOAT, ["batch", None, 3]), h.make_tensor_value_info("b", T.FLOAT, [1])], [h.make_tensor_value_info("c", T.FLOAT, ["batch", None, 3]), h.make_tensor_value_info("d", T.INT64, None)],
  initializer=[h.make_tensor("b", T.FLOAT, [1], [2.0])], doc_string="gdoc")
m = h.make_model(g, opset_imports=[h.make_opsetid("", 17)], ir_version=8, producer_name="me", doc_string="hello", model_version=7, domain="dom")
h.set_model_props(m, {"k": "v"})
s = InferenceSession(m.SerializeToString(), SessionOptions(), ["CPUExecutionProvider"], [{}])
for i in s.get_inputs() + s.get_outputs():
    print(i.name, i.shape if i.name != "a" else [i.shape[0], i.shape[2]], i.type)
mm = s.get_modelmeta()
print(mm.producer_name, mm.domain, mm.description, mm.version, mm.custom_metadata_map, mm.graph_name, mm.graph_description)
print([r.tolist() for r in s.run(None, {"a": np.ones((1, 2, 3), np.float32)})])
print([r.tolist() for r in s.run(["d", "c"], {"a": np.ones((1, 1, 3), np.float32)})])
print([r.tolist() for r in s.run(("d",), {"a": np.ones((1, 1, 3), np.float32)})])
print([r.tolist() for r in s.run(["d", "d"], {"a": np.ones((1, 1, 3), np.float32)})])
print([r.tolist() for r in s.run(["c"], {"a": np.ones((1, 1, 3), np.float32)[..., ::-1]})])
# loop over feeds of varying batch
for n in (1, 2, 5):
    print(s.run(["c"], {"a": np.ones((n, 1, 3), np.float32)})[0].shape)
# nothing to compute
print([r.shape for r in s.run(None, {"a": np.zeros((0, 1, 3), np.float32)})])
with open("t.onnx", "wb") as f:
    f.write(m.SerializeToString())
import pathlib
print(len(InferenceSession(pathlib.Path("t.onnx")).get_outputs()))
so = SessionOptions()
so.add_free_dimension_override_by_name("batch", 4)
print(InferenceSession("t.onnx", so).get_inputs()[0].shape[0])
try:
    InferenceSession("missing.onnx", providers=["CPUExecutionProvider"])
except Exception as e:
    print("raised", isinstance(e, Exception))
try:
    InferenceSession(b"xx", providers=["CPUExecutionProvider"])
except Exception:
    print("raised")
try:
    InferenceSession(None)
except TypeError:
    print("TypeError")
