"""What sessions are asked with and answer with, as users of ONNX Runtime know it: options, values, descriptions.

What has no meaning here is accepted and not heeded: providers, log levels, execution modes, arenas, session configuration entries.
"""

from __future__ import annotations

import enum
from typing import Any, Container, Iterator, Mapping, NoReturn, Sequence

import numpy as np
import tvm_ffi

from . import _arrays
from .errors import UnsupportedError, UsageError
from .executable import TensorInfo

_TYPES = {
    "float32": "float", "float64": "double", "float16": "float16", "bfloat16": "bfloat16", "bool": "bool",
}  # fmt: skip

# onnx.TensorProto.DataType
_NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11,
    "uint32": 12, "uint64": 13, "bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20,
}  # fmt: skip


def element_dtype(element_type: Any) -> np.dtype:
    """numpy's dtype of what users write: itself, or a number of onnx.TensorProto."""
    if not isinstance(element_type, (int, np.integer)):
        return np.dtype(element_type)
    for name, number in _NUMBERS.items():
        if number == element_type:
            return _arrays.numpy_dtype(name)
    raise UsageError(f"tensors have no element type {element_type}; it is numpy's, or a number of onnx.TensorProto")


def _entry(entries: Mapping[str, str], key: str) -> str:
    if key not in entries:
        raise RuntimeError(f'no configuration entry was added under the key "{key}"')
    return entries[key]


class GraphOptimizationLevel(enum.IntEnum):
    """ORT_DISABLE_ALL compiles without fusion; all others are the same."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Not heeded: kernels run one after another, each on all threads."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Not heeded."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class OrtAllocatorType(enum.IntEnum):
    """Not heeded: memory is the library's, or the caller's."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(enum.IntEnum):
    """Not heeded."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtMemoryInfo:
    """Accepted, not heeded."""

    def __init__(self, name: str, allocator_type: OrtAllocatorType, device_id: int, memory_type: OrtMemType) -> None:
        pass


def create_and_register_allocator(memory_info: OrtMemoryInfo, arena: Any = None) -> None:
    """Accepted: there are no arenas to share."""


class SessionOptions:
    """Heeded are intra_op_num_threads, graph_optimization_level, overrides of free dimensions by name, enable_profiling,
    profile_file_prefix and the entry "session.model_external_initializers_file_folder_path". What is no option cannot be set."""

    __slots__ = (
        "intra_op_num_threads", "inter_op_num_threads", "graph_optimization_level", "execution_mode", "execution_order",
        "log_severity_level", "log_verbosity_level", "logid", "enable_profiling", "enable_cpu_mem_arena", "enable_mem_pattern",
        "enable_mem_reuse", "use_deterministic_compute", "optimized_model_filepath", "profile_file_prefix",
        "use_per_session_threads", "_entries", "_dimensions",
    )  # fmt: skip

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.enable_profiling = False
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.use_deterministic_compute = False
        self.optimized_model_filepath = ""
        self.profile_file_prefix = "deuteron_profile_"
        self.use_per_session_threads = True
        self._entries: dict[str, str] = {}
        self._dimensions: dict[str, int] = {}

    def add_free_dimension_override_by_name(self, name: str, value: int) -> None:
        """A symbolic dimension of that name is `value`."""
        self._dimensions[name] = value

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Kept; that of the folder of external data is heeded, others are not."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """What was added under `key`; a RuntimeError if nothing was."""
        return _entry(self._entries, key)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("intra_op_num_threads", "inter_op_num_threads") and not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name} is a number, not {value!r}")
        object.__setattr__(self, name, value)

    def add_initializer(self, name: str, value: Any) -> NoReturn:
        """An UnsupportedError: weights are the model's, and laid out anew as it is compiled."""
        raise UnsupportedError(f'the initialiser "{name}": weights are the model\'s; write them into it before it is compiled')

    def add_external_initializers(self, names: Sequence[str], values: Sequence[Any]) -> NoReturn:
        """As add_initializer."""
        self.add_initializer(", ".join(names), values)

    def add_free_dimension_override_by_denotation(self, denotation: str, value: int) -> NoReturn:
        """An UnsupportedError: dimensions are known by their names."""
        raise UnsupportedError(f'dimensions denoted by "{denotation}": give them by name (add_free_dimension_override_by_name)')

    def add_provider(self, provider: str, provider_options: Mapping[str, Any] | None = None) -> None:
        """Accepted, not heeded."""

    def has_providers(self) -> bool:
        """False."""
        return False

    def register_custom_ops_library(self, path: str) -> NoReturn:
        """An UnsupportedError: operators of one's own are functions of the textual IR or of a C library (docs/custom-operators.md)."""
        raise UnsupportedError(f"{path}: libraries of ONNX Runtime's custom operators; docs/custom-operators.md says how to add one here")


class RunOptions:
    """Heeded is `terminate`: runs that begin while it is set are refused."""

    __slots__ = (
        "log_severity_level", "log_verbosity_level", "logid", "terminate", "only_execute_path_to_fetches", "training_mode", "_entries",
    )  # fmt: skip

    def __init__(self) -> None:
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.terminate = False
        self.only_execute_path_to_fetches = False
        self.training_mode = False
        self._entries: dict[str, str] = {}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Kept, not heeded."""
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """What was added under `key`; a RuntimeError if nothing was."""
        return _entry(self._entries, key)


class NodeArg:
    """An input or output: its name, shape (of open dimensions the name, or None if they have none) and type ("tensor(float)")."""

    def __init__(self, info: TensorInfo, unnamed: Container[str] = ()) -> None:
        self.name, self.shape = info.name, [None if size in unnamed else size for size in info.shape]
        self.type = f"tensor({_TYPES.get(info.dtype, info.dtype)})"

    @staticmethod
    def of_sequence(name: str, elements: Sequence[NodeArg]) -> NodeArg:
        """A sequence of such."""
        made = NodeArg(TensorInfo(name, "float32", ()))
        made.type = f"seq({elements[0].type if elements else made.type})"
        return made

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """(number, value) of the fields of a protobuf message: integers, or bytes not looked into."""
    position = 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 2:
            size = varint()
            yield key >> 3, data[position : position + size]
            position += size
        else:
            position += 8 if kind == 1 else 4


def _within(data: memoryview, *path: int) -> Iterator[memoryview]:
    """What lies in a message at the end of a path of fields."""
    parts = [data]
    for number in path:
        parts = [value for part in parts for field, value in _fields(part) if field == number and isinstance(value, memoryview)]
    yield from parts


class ModelMetadata:
    """What a model says of itself."""

    def __init__(self, data: memoryview) -> None:
        self.producer_name = self.domain = self.description = self.graph_name = self.graph_description = ""
        self.version = 2**63 - 1  # if it says none
        self.custom_metadata_map: dict[str, str] = {}
        self._outputs: list[tuple[str, bool]] = []  # of the graph: names, and whether it is a sequence
        self._dimensions: set[str] = set()  # that its inputs leave open, by name
        names = {2: "producer_name", 4: "domain", 6: "description"}
        for number, value in _fields(data):
            if number in names:
                setattr(self, names[number], str(value, "utf-8"))
            elif number == 5:
                self.version = value
            elif number == 7:
                for part, text in _fields(value):
                    if part in (2, 10):
                        setattr(self, "graph_name" if part == 2 else "graph_description", str(text, "utf-8"))
                    elif part == 11:
                        # ValueInfoProto.type.tensor_type.shape.dim.dim_param
                        self._dimensions.update(str(name, "utf-8") for name in _within(text, 2, 1, 2, 1, 2))
                    elif part == 12:
                        output = dict(_fields(text))
                        is_sequence = any(kind == 4 for kind, _ in _fields(output.get(2, memoryview(b""))))
                        self._outputs.append((str(output.get(1, b""), "utf-8"), is_sequence))
            elif number == 14:
                pair = {part: str(text, "utf-8") for part, text in _fields(value)}
                self.custom_metadata_map[pair.get(1, "")] = pair.get(2, "")


class OrtValue:
    """A tensor on the CPU."""

    def __init__(self, tensor: tvm_ffi.Tensor, owner: Any = None) -> None:
        self._tensor, self._owner = tensor, owner

    @staticmethod
    def ortvalue_from_numpy(array: np.ndarray, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """Over the memory of `array`."""
        check_device(device_type)
        if not isinstance(array, np.ndarray):
            raise UsageError(f"an OrtValue is of an array of numpy, not of {type(array).__name__}")
        return OrtValue(_arrays.as_tensor(array), array)

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(array: np.ndarray, onnx_element_type: int) -> OrtValue:
        """Over the memory of `array`, whose bytes are elements of that type (a number of onnx.TensorProto), of the same size."""
        dtype = element_dtype(onnx_element_type)
        if array.dtype.itemsize != dtype.itemsize:
            raise UsageError(f"elements of {array.dtype} are not of the size of {dtype}")
        return OrtValue.ortvalue_from_numpy(array.view(dtype))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """New, its contents undefined. `element_type` is numpy's, or a number of onnx.TensorProto."""
        return OrtValue.ortvalue_from_numpy(np.empty(shape, element_dtype(element_type)), device_type, device_id)

    def numpy(self) -> np.ndarray:
        """Its memory as numpy's array."""
        return self._owner if isinstance(self._owner, np.ndarray) else _arrays.to_numpy(self._tensor)

    def shape(self) -> list[int]:
        """Its dimensions."""
        return list(self._tensor.shape)

    def element_type(self) -> int:
        """Its dtype as a number of onnx.TensorProto."""
        return _NUMBERS[str(self._tensor.dtype)]

    def tensor_size_in_bytes(self) -> int:
        """Bytes of its elements."""
        return self.numpy().nbytes

    def update_inplace(self, array: np.ndarray) -> None:
        """Copies elements into its memory."""
        np.copyto(_arrays.to_numpy(self._tensor), array, casting="no")

    def has_value(self) -> bool:
        """True."""
        return True

    def data_type(self) -> str:
        """ "tensor(float)" """
        name = str(self._tensor.dtype)
        return f"tensor({_TYPES.get(name, name)})"

    def data_ptr(self) -> int:
        """Address of its first element."""
        return self._tensor.data_ptr()

    def device_name(self) -> str:
        """ "cpu" """
        return "cpu"

    def is_tensor(self) -> bool:
        """True."""
        return True

    def is_sparse_tensor(self) -> bool:
        """False."""
        return False

    is_tensor_sequence = is_sparse_tensor

    @staticmethod
    def from_dlpack(data: Any) -> OrtValue:
        """Over the memory of anything with DLPack."""
        return OrtValue(tvm_ffi.from_dlpack(data), data)

    def __dlpack__(self, **arguments: Any) -> Any:
        return self._tensor.__dlpack__(**arguments)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()


def check_device(device_type: str) -> None:
    """A UsageError for memory that is not the host's."""
    if device_type not in ("cpu", "cuda_pinned"):
        raise UsageError(f'memory of the device "{device_type}"; inputs and outputs are on the CPU')


class OrtDevice:
    """Where a tensor lies: on the CPU."""

    def __init__(self, name: str = "cpu", device_id: int = 0) -> None:
        check_device(name)
        self._name, self._id = name, device_id

    @staticmethod
    def make(ort_device_name: str, device_id: int = 0, vendor_id: int = -1) -> OrtDevice:
        """A UsageError for other devices than the CPU."""
        return OrtDevice(ort_device_name, device_id)

    def device_id(self) -> int:
        """As it was given."""
        return self._id

    def device_type(self) -> str:
        """ "cpu" """
        return self._name
