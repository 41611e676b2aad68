"""Deuteron: compiles networks to native code, fused, and runs them.

    import deuteron
    exe = deuteron.compile("resnet50.onnx")
    [probabilities] = exe(image)
"""

from ._library import VERSION as __version__
from . import instrument, ir, quantize, relax, script, te, tir, topi, transform
from .errors import DeuteronError, MismatchError, ModelError, UnsupportedError, UsageError
from .executable import Executable, TensorInfo, compile, load, read
from .ir import IRModule
from .reports import bisect, explain, profile, verify
from .session import (
    InferenceSession,
    IOBinding,
    SessionIOBinding,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_version_string,
    preload_dlls,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_seed,
)
from .session_types import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    ModelMetadata,
    NodeArg,
    OrtAllocatorType,
    OrtDevice,
    OrtMemoryInfo,
    OrtMemType,
    OrtValue,
    RunOptions,
    SessionOptions,
    create_and_register_allocator,
)
from . import capi

__all__ = [
    "DeuteronError", "Executable", "ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding", "IRModule", "InferenceSession",
    "MismatchError", "ModelError", "ModelMetadata", "NodeArg", "OrtAllocatorType", "OrtDevice", "OrtMemType", "OrtMemoryInfo", "OrtValue", "RunOptions", "SessionIOBinding", "SessionOptions", "TensorInfo", "UnsupportedError", "UsageError",
    "__version__", "bisect", "capi", "compile", "create_and_register_allocator", "disable_telemetry_events", "enable_telemetry_events", "explain",
    "get_all_providers", "get_available_providers", "get_build_info", "get_device", "get_version_string", "instrument", "ir", "load", "preload_dlls", "profile", "quantize", "read", "relax",
    "script", "set_default_logger_severity", "set_default_logger_verbosity", "set_seed", "te", "tir", "topi", "transform", "verify",
]  # fmt: skip
