"""Deuteron: compiles networks to native code, fused, and runs them.

    import deuteron
    exe = deuteron.compile("resnet50.onnx")
    [probabilities] = exe(image)
"""

from ._library import VERSION as __version__
from . import instrument, ir, quantize, relax, script, transform
from .errors import DeuteronError, MismatchError, ModelError, UnsupportedError, UsageError
from .executable import Executable, TensorInfo, compile, load, read
from .ir import IRModule
from .reports import bisect, explain, profile, verify
from .session import (
    ExecutionMode,
    GraphOptimizationLevel,
    InferenceSession,
    IOBinding,
    OrtValue,
    RunOptions,
    SessionOptions,
    get_available_providers,
    get_device,
)

__all__ = [
    "DeuteronError", "Executable", "ExecutionMode", "GraphOptimizationLevel", "IOBinding", "IRModule", "InferenceSession",
    "MismatchError", "ModelError", "OrtValue", "RunOptions", "SessionOptions", "TensorInfo", "UnsupportedError", "UsageError",
    "__version__", "bisect", "compile", "explain", "get_available_providers", "get_device", "instrument", "ir", "load", "profile", "quantize", "read", "relax",
    "script", "transform", "verify",
]  # fmt: skip
