"""Where scripts for ONNX Runtime look for its exceptions."""

from . import onnxruntime_pybind11_state
