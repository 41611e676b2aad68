# a decoder loop as users write it, with past, two sessions, a pool of threads
import concurrent.futures as cf

import numpy as np
import onnx
import onnxruntime as rt
from onnx import helper as h, TensorProto as T
rng = np.random.default_rng(0)
W = rng.standard_normal((8, 8)).astype(np.float32)
g = h.make_graph([h.make_node("MatMul", ["x", "W"], ["q"]), h.make_node("Concat", ["past", "q"], ["present"], axis=1), h.make_node("ReduceMean", ["present"], ["y"], axes=[1], keepdims=1)], "dec",
  [h.make_tensor_value_info("x", T.FLOAT, [1, 1, 8]), h.make_tensor_value_info("past", T.FLOAT, [1, "t", 8])],
  [h.make_tensor_value_info("y", T.FLOAT, [1, 1, 8]), h.make_tensor_value_info("present", T.FLOAT, [1, "t2", 8])], [onnx.numpy_helper.from_array(W, "W")])
m = h.make_model(g, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
opts = rt.SessionOptions()
opts.intra_op_num_threads = 1
sess = rt.InferenceSession(m.SerializeToString(), opts, providers=rt.get_available_providers())
names = [o.name for o in sess.get_outputs()]
past = np.zeros((1, 0, 8), np.float32)
x = np.ones((1, 1, 8), np.float32)
for step in range(5):
    out = dict(zip(names, sess.run(names, {"x": x, "past": past})))
    x, past = out["y"], out["present"]
print(past.shape, np.round(x.ravel()[:3], 3))
with cf.ThreadPoolExecutor(4) as pool:
    rs = list(pool.map(lambda k: sess.run(None, {"x": np.full((1, 1, 8), k, np.float32), "past": np.zeros((1, k, 8), np.float32)})[0], range(20)))
print([r.shape for r in rs][:2], np.round(rs[3].ravel()[:2], 3))
# outputs are the caller's: changing them changes nothing later
a = sess.run(None, {"x": x, "past": past})[0]
k = a.copy()
a[:] = 0
print(np.allclose(sess.run(None, {"x": x, "past": past})[0], k), a.flags.writeable, a.flags.owndata in (True, False))
# binding loop with growing outputs
b = sess.io_binding()
v = rt.OrtValue.ortvalue_from_numpy(np.zeros((1, 0, 8), np.float32))
for step in range(3):
    b.bind_cpu_input("x", np.ones((1, 1, 8), np.float32))
    b.bind_ortvalue_input("past", v)
    for n in names:
        b.bind_output(n, "cpu")
    sess.run_with_iobinding(b)
    y, v = b.get_outputs()
print(v.shape(), np.round(y.numpy().ravel()[:2], 3))
try:
    sess.run(None, {"x": x})
except ValueError as e:
    print("ValueError")
except Exception as e:
    print("other", type(e))
