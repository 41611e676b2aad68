"""Sessions as users of ONNX Runtime know them: their scripts run by changing the import.

    import deuteron as onnxruntime

What has no meaning here is accepted and not heeded: providers, log levels, execution modes, arenas, session configuration entries.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import sys
import threading
import time
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import tvm_ffi

from . import _arrays, _library
from .errors import DeuteronError, UsageError
from .executable import Executable, TensorInfo, _run, _run_into, _warn, compile, in_another_thread, load
from .session_types import (
    GraphOptimizationLevel,
    ModelMetadata,
    NodeArg,
    OrtValue,
    RunOptions,
    SessionOptions,
    check_device,
    element_dtype,
)

def _elements(name: str, values: Mapping[str, Any]) -> list[Any]:
    """Of a sequence, which are named name[0], name[1], …"""
    return [value for part, value in values.items() if part.startswith(name + "[")]


def _check_run(output_names: Sequence[str] | None, options: RunOptions | None) -> None:
    if isinstance(output_names, str):
        raise TypeError(f"output_names is a list of names, not {output_names!r}")
    if options is not None and options.terminate:
        raise DeuteronError("the run is ended before it begins: RunOptions.terminate is set")


class IOBinding:
    """Inputs and outputs bound to memory, for `InferenceSession.run_with_iobinding`."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}
        self._results: list[OrtValue] = []

    def _memory(self, device_type: str, element_type: Any, shape: Sequence[int], address: int) -> tvm_ffi.Tensor:
        check_device(device_type)
        dtype = element_type if isinstance(element_type, str) else element_dtype(element_type).name
        return _library.function("view")(address, tvm_ffi.Shape(shape), tvm_ffi.Shape([]), dtype)

    def _check(self, name: str, which: str) -> None:
        infos = getattr(self._session.executable, which)
        if all(info.name != name for info in infos):
            known = ", ".join(f'"{info.name}"' for info in infos)
            raise UsageError(f'the model has no {which[:-1]} "{name}"; its {which} are {known}')

    def bind_cpu_input(self, name: str, array: Any) -> None:
        """An array of numpy."""
        self._check(name, "inputs")
        self._inputs[name] = array

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int) -> None:
        """Memory of the caller's, row major."""
        self._check(name, "inputs")
        self._inputs[name] = self._memory(device_type, element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        """An OrtValue."""
        self._check(name, "inputs")
        self._inputs[name] = value

    def bind_output(
        self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
        shape: Sequence[int] | None = None, buffer_ptr: int | None = None,
    ) -> None:  # fmt: skip
        """Memory of the caller's, or, without an address, memory that each run makes."""
        check_device(device_type)
        self._check(name, "outputs")
        bound = buffer_ptr is not None and shape is not None
        if element_type is None:
            [element_type] = [info.dtype for info in self._session.executable.outputs if info.name == name]
        self._outputs[name] = self._memory(device_type, element_type, shape or (), buffer_ptr or 0) if bound else None

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        """An OrtValue."""
        self._check(name, "outputs")
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

    get_outputs_as_ortvaluevector = get_outputs

    def copy_outputs_to_cpu(self) -> list[np.ndarray]:
        """Of the last run, as copies."""
        return [value.numpy().copy() for value in self._results]

    def _run(self) -> None:
        if not self._outputs:
            raise UsageError("no output is bound")
        executable = self._session.executable
        tensors = executable._tensors(executable._ordered((self._inputs,), "inputs"))
        if len(self._outputs) == len(executable.outputs) and all(bound is not None for bound in self._outputs.values()):
            values = executable._ordered((self._outputs,), "outputs")
            bound_tensors = [value._tensor if isinstance(value, OrtValue) else value for value in values]
            self._session._measured(tensors, lambda: _run_into(executable, tensors, bound_tensors))
            self._results = [value if isinstance(value, OrtValue) else OrtValue(value) for value in self._outputs.values()]
            return
        ran = self._session._measured(tensors, lambda: _run(executable, tensors))
        results = dict(zip((info.name for info in executable.outputs), ran))
        self._results = []
        for name, bound in self._outputs.items():
            result = self._session._output(results, name)
            if bound is None:
                self._results.append(OrtValue(result))
                continue
            value = bound if isinstance(bound, OrtValue) else OrtValue(bound)
            np.copyto(_arrays.to_numpy(value._tensor), _arrays.to_numpy(result), casting="no")
            self._results.append(value)


class _Profile:
    """The runs of a session, for a trace."""

    def __init__(self) -> None:
        self.start = time.perf_counter_ns()
        self._lock = threading.Lock()
        self._runs: list[dict[str, Any]] = []
        self._shapes: list[tuple[tuple[int, ...], str]] | None = None

    def measure(self, inputs: Sequence[Any], run: Callable[[], Any]) -> Any:
        begin = time.perf_counter_ns()
        result = run()
        duration = time.perf_counter_ns() - begin
        event = {
            "cat": "Session", "name": "model_run", "ph": "X", "pid": os.getpid(), "tid": threading.get_native_id(),
            "ts": (begin - self.start) / 1e3, "dur": duration / 1e3, "args": {},
        }  # fmt: skip
        with self._lock:
            self._runs.append(event)
            self._shapes = [(tuple(each.shape), str(each.dtype)) for each in inputs]
        return result

    def events(self, executable: Executable) -> list[dict[str, Any]]:
        if self._shapes is None:
            return []
        after = (time.perf_counter_ns() - self.start) / 1e3
        inputs = [_arrays.as_tensor(np.zeros(shape, _arrays.numpy_dtype(dtype))) for shape, dtype in self._shapes]
        forms = _library.function("profile_executable")(executable, inputs, 0.0, "model")
        kernels = json.loads(forms["trace"])["traceEvents"]
        for event in kernels:
            event["pid"] = os.getpid() + 1
            if "ts" in event:
                event["ts"] += after
        return self._runs + kernels


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
        self._sequences: list[tuple[str, bool]] | None = None
        self._profile = _Profile() if options.enable_profiling else None
        self._profiling_start = self._profile.start if self._profile is not None else 0
        if not isinstance(path_or_bytes, (str, os.PathLike, bytes, bytearray, memoryview)):
            raise TypeError(f"a session is of a path or of bytes, not of {type(path_or_bytes).__name__}")
        if options.optimized_model_filepath:
            _warn("optimized_model_filepath is not heeded: what is compiled is saved by session.executable.save(...)")
        if isinstance(path_or_bytes, (str, os.PathLike)) and os.fsdecode(path_or_bytes).endswith(".so"):
            self.executable: Executable = load(path_or_bytes, threads=options.intra_op_num_threads)
        else:
            self.executable = compile(
                path_or_bytes,
                threads=options.intra_op_num_threads,
                fuse=options.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL,
                shapes=self._overrides(),
                folder=options._entries.get("session.model_external_initializers_file_folder_path", ""),
                cache=kwargs.get("cache", False),
            )

    def _overrides(self) -> dict[str, int]:
        """Those of free dimensions that the model has; of others a script that is for many models need not know."""
        wanted = self._options._dimensions
        known = self.get_modelmeta()._dimensions if wanted else set()
        for name in sorted(set(wanted) - known):
            _warn(f'the override of the dimension "{name}" is not heeded: the inputs of the model have none of that name')
        return {name: size for name, size in wanted.items() if name in known}

    def _declared(self) -> list[tuple[str, bool]]:
        """Outputs by name, and whether they are sequences, if one is. (Of an artefact, the elements of a sequence are outputs.)"""
        if self._sequences is None:
            infos = self.executable.outputs
            taken_apart = not infos or any(info.name.endswith("]") for info in infos)
            outputs = self.get_modelmeta()._outputs if taken_apart else []
            self._sequences = outputs if any(is_sequence for _, is_sequence in outputs) else []
        return self._sequences

    def _results(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """Outputs by name, as arrays of numpy; a sequence is a list."""
        results = {info.name: _arrays.to_numpy(tensor) for info, tensor in zip(self.executable.outputs, tensors)}
        return {name: _elements(name, results) if is_sequence else results.get(name) for name, is_sequence in self._declared()} or results

    def _output(self, results: Mapping[str, Any], name: str) -> Any:
        if name not in results:
            known = ", ".join(f'"{each}"' for each in results)
            raise UsageError(f'the model has no output "{name}"; its outputs are {known}')
        return results[name]

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: RunOptions | None = None
    ) -> list[np.ndarray]:
        """The outputs of those names, or all, for inputs by name, as arrays of numpy; sequences as lists of them."""
        _check_run(output_names, run_options)
        feed = {name: value for name, value in input_feed.items() if value is not None}
        tensors = self.executable._tensors(self.executable._ordered((feed,), "inputs"))
        outputs = self._measured(tensors, lambda: _run(self.executable, tensors))
        results = self._results(outputs)
        return [self._output(results, name) for name in output_names or results]

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
                results, error = self.run(output_names, input_feed, run_options), ""
            except Exception as raised:
                results, error = [], str(raised)
            try:
                callback(results, user_data, error)
            except Exception:
                # Nobody waits for it.
                threading.excepthook(threading.ExceptHookArgs([*sys.exc_info(), threading.current_thread()]))

        in_another_thread(run)

    def run_with_ort_values(
        self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue], run_options: RunOptions | None = None
    ) -> list[OrtValue]:
        """`run` with OrtValues."""
        return [OrtValue.ortvalue_from_numpy(array) for array in self.run(output_names, input_dict_ort_values, run_options)]

    def io_binding(self) -> IOBinding:
        """For `run_with_iobinding`."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs on what is bound, into what is bound."""
        _check_run(None, run_options)
        iobinding._run()

    def _described(self, infos: Sequence[TensorInfo]) -> list[NodeArg]:
        # The importer names dimensions that the model leaves without a name.
        own = {re.sub(r"\W", "_", f"{info.name}_d{axis}") for info in self.executable.inputs for axis in range(len(info.shape))}
        return [NodeArg(info, own) for info in infos]

    def get_inputs(self) -> list[NodeArg]:
        """In the model's order."""
        return self._described(self.executable.inputs)

    def get_outputs(self) -> list[NodeArg]:
        """In the model's order."""
        described = self._described(self.executable.outputs)
        by_name = {each.name: each for each in described}
        return [
            NodeArg.of_sequence(name, _elements(name, by_name)) if is_sequence else by_name[name]
            for name, is_sequence in self._declared()
            if is_sequence or name in by_name
        ] or described

    def get_overridable_initializers(self) -> list[NodeArg]:
        """None: initialisers are constants."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says of itself; of an artefact, nothing."""
        if self._metadata is None:
            if isinstance(self._model, (bytes, bytearray, memoryview)):
                self._metadata = ModelMetadata(memoryview(self._model))
            elif os.fsdecode(self._model).endswith(".onnx"):
                with open(self._model, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                    with memoryview(mapped) as data:
                        self._metadata = ModelMetadata(data)
            else:
                self._metadata = ModelMetadata(memoryview(b""))
        return self._metadata

    def _measured(self, inputs: Sequence[Any], run: Callable[[], Any]) -> Any:
        profile = self._profile
        return run() if profile is None else profile.measure(inputs, run)

    def end_profiling(self) -> str:
        """Ends what SessionOptions.enable_profiling began. The path of a trace with the runs, and one more, of the last inputs'
        shapes, kernel by kernel; "" if nothing was begun."""
        profile, self._profile = self._profile, None
        if profile is None:
            return ""
        path = f"{self._options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(profile.events(self.executable), file)
        return path

    def get_profiling_start_time_ns(self) -> int:
        """Of time.perf_counter_ns(), when the session was made; 0 if it keeps no profile."""
        return self._profiling_start

    def disable_fallback(self) -> None:
        """There is none."""

    enable_fallback = disable_fallback

    def get_session_options(self) -> SessionOptions:
        """As they were given."""
        return self._options

    def get_providers(self) -> list[str]:
        """Those of get_available_providers."""
        return get_available_providers()

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """None."""
        return {name: {} for name in self.get_providers()}

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Any = None) -> None:
        """Accepted, not heeded."""


SessionIOBinding = IOBinding


def get_available_providers() -> list[str]:
    """Generated code, and the libraries that pay; and the name by which scripts ask for the CPU."""
    return ["DeuteronExecutionProvider", "CPUExecutionProvider"]


get_all_providers = get_available_providers


def get_device() -> str:
    """ "CPU" """
    return "CPU"


def get_version_string() -> str:
    """That of this library."""
    return _library.VERSION


def get_build_info() -> str:
    """Of what it is."""
    return f"Deuteron {_library.VERSION}"


def disable_telemetry_events() -> None:
    """There are none."""


enable_telemetry_events = disable_telemetry_events


def preload_dlls(*arguments: Any, **named: Any) -> None:
    """There are none to load."""


def set_default_logger_severity(severity: int) -> None:
    """Accepted: nothing is logged."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Accepted: nothing is logged."""


def set_seed(seed: int) -> None:
    """Accepted: random operators take their seeds from the model."""
