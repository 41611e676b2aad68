"""Sessions as users of ONNX Runtime know them: their scripts run by changing the import.

    import deuteron as onnxruntime

What has no meaning here is accepted and not heeded: providers, log levels, execution modes, arenas, session configuration entries.
"""

from __future__ import annotations

import enum
import mmap
import os
from typing import Any, Callable, Iterator, Mapping, NoReturn, Sequence

import numpy as np
import tvm_ffi

from . import _arrays, _library
from .errors import UnsupportedError, UsageError
from .executable import Executable, TensorInfo, compile, load, threads

_TYPES = {
    "float32": "float", "float64": "double", "float16": "float16", "bfloat16": "bfloat16", "bool": "bool",
}  # fmt: skip

# onnx.TensorProto.DataType
_NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11,
    "uint32": 12, "uint64": 13, "bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20,
}  # fmt: skip


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


class SessionOptions:
    """Heeded are intra_op_num_threads, graph_optimization_level, and overrides of free dimensions by name."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.enable_profiling = False
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.use_deterministic_compute = False
        self.optimized_model_filepath = ""
        self.profile_file_prefix = ""
        self._entries: dict[str, str] = {}
        self._dimensions: dict[str, int] = {}

    def add_free_dimension_override_by_name(self, name: str, value: int) -> None:
        """A symbolic dimension of that name is `value`."""
        self._dimensions[name] = value

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Kept, not heeded."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """What was added under `key`."""
        return self._entries[key]

    def register_custom_ops_library(self, path: str) -> NoReturn:
        """An UnsupportedError: operators of one's own are functions of the textual IR or of a C library (docs/custom-operators.md)."""
        raise UnsupportedError(f"{path}: libraries of ONNX Runtime's custom operators; docs/custom-operators.md says how to add one here")


class RunOptions:
    """Accepted, not heeded."""

    def __init__(self) -> None:
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.terminate = False
        self.only_execute_path_to_fetches = False
        self._entries: dict[str, str] = {}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Kept, not heeded."""
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """What was added under `key`."""
        return self._entries[key]


class NodeArg:
    """An input or output: its name, shape (names of open dimensions) and type ("tensor(float)")."""

    def __init__(self, info: TensorInfo) -> None:
        self.name, self.shape = info.name, list(info.shape)
        self.type = f"tensor({_TYPES.get(info.dtype, info.dtype)})"

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


class ModelMetadata:
    """What a model says of itself."""

    def __init__(self, data: memoryview) -> None:
        self.producer_name = self.domain = self.description = self.graph_name = self.graph_description = ""
        self.version = 2**63 - 1  # if it says none
        self.custom_metadata_map: dict[str, str] = {}
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
        _check_device(device_type)
        return OrtValue(_arrays.as_tensor(array), array)

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """New, its contents undefined."""
        return OrtValue.ortvalue_from_numpy(np.empty(shape, element_type), device_type, device_id)

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


def _check_device(device_type: str) -> None:
    if device_type not in ("cpu", "cuda_pinned"):
        raise UsageError(f'memory of the device "{device_type}"; inputs and outputs are on the CPU')


class IOBinding:
    """Inputs and outputs bound to memory, for `InferenceSession.run_with_iobinding`."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}
        self._results: list[OrtValue] = []

    def _memory(self, device_type: str, element_type: Any, shape: Sequence[int], address: int) -> tvm_ffi.Tensor:
        _check_device(device_type)
        return _library.function("view")(address, tvm_ffi.Shape(shape), tvm_ffi.Shape([]), np.dtype(element_type).name)

    def bind_cpu_input(self, name: str, array: Any) -> None:
        """An array of numpy."""
        self._inputs[name] = array

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int) -> None:
        """Memory of the caller's, row major."""
        self._inputs[name] = self._memory(device_type, element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        """An OrtValue."""
        self._inputs[name] = value

    def bind_output(
        self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
        shape: Sequence[int] | None = None, buffer_ptr: int | None = None,
    ) -> None:  # fmt: skip
        """Memory of the caller's, or, without an address, memory that each run makes."""
        _check_device(device_type)
        bound = buffer_ptr is not None and shape is not None
        self._outputs[name] = self._memory(device_type, element_type, shape or (), buffer_ptr or 0) if bound else None

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        """An OrtValue."""
        self._outputs[name] = value

    def clear_binding_inputs(self) -> None:
        """Forgets the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets the outputs."""
        self._outputs.clear()

    def synchronize_inputs(self) -> None:
        """Nothing to wait for."""

    synchronize_outputs = synchronize_inputs

    def get_outputs(self) -> list[OrtValue]:
        """Of the last run, in the order in which they were bound."""
        return list(self._results)

    def copy_outputs_to_cpu(self) -> list[np.ndarray]:
        """Of the last run, as copies."""
        return [value.numpy().copy() for value in self._results]

    def _run(self) -> None:
        executable = self._session.executable
        infos = executable.inputs
        values = executable._ordered((self._inputs,), "inputs")
        tensors = [_arrays.to_tensor(value, info.dtype) for value, info in zip(values, infos)]
        results = dict(zip((info.name for info in executable.outputs), _library.function("run")(executable, tensors)))
        self._results = []
        for name, bound in self._outputs.items():
            result = self._session._output(results, name)
            if bound is None:
                self._results.append(OrtValue(result))
                continue
            value = bound if isinstance(bound, OrtValue) else OrtValue(bound)
            np.copyto(_arrays.to_numpy(value._tensor), _arrays.to_numpy(result), casting="no")
            self._results.append(value)


class InferenceSession:
    """A compiled model. `path_or_bytes` is an .onnx file, its bytes, or an artefact of `Executable.save`.

    `run` may be called from several threads at once. Of `kwargs`, `cache` is heeded, as `compile` takes it.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        options = sess_options or SessionOptions()
        self._options, self._model = options, path_or_bytes
        self._metadata: ModelMetadata | None = None
        if isinstance(path_or_bytes, (str, os.PathLike)) and os.fspath(path_or_bytes).endswith(".so"):
            self.executable: Executable = load(path_or_bytes, threads=options.intra_op_num_threads)
        else:
            self.executable = compile(
                path_or_bytes,
                threads=options.intra_op_num_threads,
                fuse=options.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL,
                shapes=options._dimensions,
                cache=kwargs.get("cache", False),
            )

    def _output(self, results: Mapping[str, Any], name: str) -> Any:
        if name not in results:
            known = ", ".join(f'"{each}"' for each in results)
            raise UsageError(f'the model has no output "{name}"; its outputs are {known}')
        return results[name]

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: RunOptions | None = None
    ) -> list[np.ndarray]:
        """The outputs of those names, or all, for inputs by name, as arrays of numpy."""
        infos = self.executable.inputs
        feed = {name: value for name, value in input_feed.items() if value is not None}
        values = self.executable._ordered((feed,), "inputs")
        tensors = [_arrays.to_tensor(value, info.dtype) for value, info in zip(values, infos)]
        outputs = _library.function("run")(self.executable, tensors)
        if not output_names:
            return [_arrays.to_numpy(output) for output in outputs]
        results = dict(zip((info.name for info in self.executable.outputs), outputs))
        return [_arrays.to_numpy(self._output(results, name)) for name in output_names]

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[np.ndarray], Any, str], Any],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """`run` in another thread, which calls `callback(results, user_data, error)`: `error` is "" or a message."""

        def run() -> None:
            try:
                results, error = self.run(output_names, input_feed), ""
            except Exception as raised:
                results, error = [], str(raised)
            callback(results, user_data, error)

        threads().submit(run)

    def run_with_ort_values(
        self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue], run_options: RunOptions | None = None
    ) -> list[OrtValue]:
        """`run` with OrtValues."""
        return [OrtValue.ortvalue_from_numpy(array) for array in self.run(output_names, input_dict_ort_values)]

    def io_binding(self) -> IOBinding:
        """For `run_with_iobinding`."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs on what is bound, into what is bound."""
        iobinding._run()

    def get_inputs(self) -> list[NodeArg]:
        """In the model's order."""
        return [NodeArg(info) for info in self.executable.inputs]

    def get_outputs(self) -> list[NodeArg]:
        """In the model's order."""
        return [NodeArg(info) for info in self.executable.outputs]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """None: initialisers are constants."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says of itself; of an artefact, nothing."""
        if self._metadata is None:
            if isinstance(self._model, (bytes, bytearray, memoryview)):
                self._metadata = ModelMetadata(memoryview(self._model))
            elif os.fspath(self._model).endswith(".onnx"):
                with open(self._model, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                    with memoryview(mapped) as data:
                        self._metadata = ModelMetadata(data)
            else:
                self._metadata = ModelMetadata(memoryview(b""))
        return self._metadata

    def end_profiling(self) -> NoReturn:
        """An UnsupportedError that says what does instead."""
        raise UnsupportedError("sessions keep no profile; deuteron.profile(session.executable, inputs).write_trace(FILE) writes one")

    def disable_fallback(self) -> None:
        """There is none."""

    enable_fallback = disable_fallback

    def get_session_options(self) -> SessionOptions:
        """As they were given."""
        return self._options

    def get_providers(self) -> list[str]:
        """That of this library."""
        return get_available_providers()

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """None."""
        return {name: {} for name in self.get_providers()}

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Any = None) -> None:
        """Accepted, not heeded."""


def get_available_providers() -> list[str]:
    """One: generated code, and the libraries that pay."""
    return ["DeuteronExecutionProvider"]


get_all_providers = get_available_providers


def get_device() -> str:
    """ "CPU" """
    return "CPU"


def get_version_string() -> str:
    """That of this library."""
    return _library.VERSION


def set_default_logger_severity(severity: int) -> None:
    """Accepted: nothing is logged."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Accepted: nothing is logged."""


def set_seed(seed: int) -> None:
    """Accepted: random operators take their seeds from the model."""
