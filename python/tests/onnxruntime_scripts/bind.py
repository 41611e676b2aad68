import numpy as np
import onnxruntime as ort
s = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
i, o = s.get_inputs()[0], s.get_outputs()[0]
x = np.random.default_rng(1).standard_normal([d if isinstance(d, int) else 1 for d in i.shape]).astype(np.float32)
[ref] = s.run(None, {i.name: x})
# bind cpu input, ort output
b = s.io_binding()
b.bind_cpu_input(i.name, x)
b.bind_output(o.name)
s.run_with_iobinding(b)
[y] = b.copy_outputs_to_cpu()
print(np.allclose(y, ref), y.shape)
v = b.get_outputs()[0]
print(v.device_name(), v.shape(), v.data_type(), v.is_tensor(), v.element_type(), v.has_value())
# ortvalues
xv = ort.OrtValue.ortvalue_from_numpy(x, "cpu", 0)
yv = ort.OrtValue.ortvalue_from_shape_and_type(list(ref.shape), np.float32, "cpu", 0)
b = s.io_binding()
b.bind_ortvalue_input(i.name, xv)
b.bind_ortvalue_output(o.name, yv)
s.run_with_iobinding(b)
print(np.allclose(yv.numpy(), ref))
# raw pointers
out = np.empty(ref.shape, np.float32)
b = s.io_binding()
b.bind_input(name=i.name, device_type="cpu", device_id=0, element_type=np.float32, shape=x.shape, buffer_ptr=x.ctypes.data)
b.bind_output(name=o.name, device_type="cpu", device_id=0, element_type=np.float32, shape=out.shape, buffer_ptr=out.ctypes.data)
b.synchronize_inputs()
s.run_with_iobinding(b, ort.RunOptions())
b.synchronize_outputs()
print(np.allclose(out, ref))
b.clear_binding_inputs()
b.clear_binding_outputs()
# binding with a raw pointer of an OrtValue
b.bind_input(i.name, xv.device_name(), 0, np.float32, xv.shape(), xv.data_ptr())
b.bind_output(o.name, "cpu")
s.run_with_iobinding(b)
print(np.allclose(b.get_outputs()[0].numpy(), ref))
r = s.run_with_ort_values([o.name], {i.name: xv})
print(type(r[0]).__name__, np.allclose(r[0].numpy(), ref))
xv.update_inplace(np.zeros_like(x))
print(np.abs(xv.numpy()).max())
x = np.random.default_rng(1).standard_normal(x.shape).astype(np.float32)
# onnx element type
from onnx import TensorProto
b = s.io_binding()
b.bind_input(i.name, "cpu", 0, TensorProto.FLOAT, x.shape, x.ctypes.data)
b.bind_output(o.name, "cpu", 0, TensorProto.FLOAT, out.shape, out.ctypes.data)
out[:] = 0
s.run_with_iobinding(b)
print(np.allclose(out, ref))
w = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.zeros((2, 2), np.uint16), TensorProto.BFLOAT16)
print(w.shape(), w.element_type(), w.data_type())
import threading
done = threading.Event()
def cb(results, data, err):
    print(len(results), data, repr(err), np.allclose(results[0], ref))
    done.set()
s.run_async(None, {i.name: x}, cb, "user")
done.wait(30)
try:
    d = ort.OrtValue.ortvalue_from_numpy(x, "cuda", 0)
except Exception as e:
    print("raised")
