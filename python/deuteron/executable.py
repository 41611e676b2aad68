"""Compiling, loading and running models."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import math
import operator
import os
import sys
import threading
import warnings
from typing import Any, Callable, Generator, Mapping, NoReturn, Sequence, Union

import numpy as np
import tvm_ffi

from . import _arrays, _library
from .errors import UsageError
from .instrument import methods_of
from .ir import IRModule

_compile = _library.calling("compile")
_compile_file = _library.calling("compile_file")
_load = _library.taking_long("load")
_run = _library.taking_long("run")
_run_into = _library.taking_long("run_into")
_read_module = _library.function("read_module")
_parse_onnx = _library.function("parse_onnx")

Model = Union[str, "os.PathLike[str]", bytes, IRModule, Any]
"""A path of an .onnx model or a .py module, the bytes of an ONNX model, an `onnx.ModelProto`, or an `IRModule`."""


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """An input or output of a model."""

    name: str
    """As the model's author called it."""
    dtype: str
    """ "float32", "bool", … """
    shape: tuple[int | str, ...]
    """Dimensions; the name of those that may be any."""


class RunFuture(concurrent.futures.Future):  # type: ignore[type-arg]
    """What a run in another thread gives, for threads (`result()`) and for coroutines (`await`)."""

    def __await__(self) -> Generator[Any, None, list[Any]]:
        return asyncio.wrap_future(self).__await__()


_pool_lock = threading.Lock()
_pool: concurrent.futures.ThreadPoolExecutor | None = None


def _without_pool() -> None:
    """A process that was forked has none of the threads of its parent."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_without_pool)


def in_another_thread(work: Callable[[], Any]) -> RunFuture:
    """Its result, when it is there."""
    global _pool
    future = RunFuture()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    with _pool_lock:
        if _pool is None:
            _pool = concurrent.futures.ThreadPoolExecutor(thread_name_prefix="deuteron")
        _pool.submit(run)
    return future


@tvm_ffi.register_object("deuteron.Executable", init=False)
class Executable(tvm_ffi.Object):
    """A compiled model. Any number of threads may run it at once."""

    __slots__ = ("__dict__", "__weakref__")

    def __init__(self) -> None:
        raise TypeError("executables come from deuteron.compile and deuteron.load")

    def __copy__(self) -> Executable:
        return self

    def __deepcopy__(self, memo: Any) -> Executable:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("an executable cannot be pickled: save it to a file, and load that in the other process")

    def _infos(self, which: str) -> list[TensorInfo]:
        cache = self.__dict__
        if which not in cache:
            cache[which] = [
                TensorInfo(name, dtype, tuple(size if size >= 0 else dim for size, dim in zip(shape, dims)))
                for name, dtype, shape, dims in _library.function(which)(self)
            ]
        return cache[which]

    @property
    def inputs(self) -> list[TensorInfo]:
        """In the model's order."""
        return list(self._infos("inputs"))

    @property
    def outputs(self) -> list[TensorInfo]:
        """In the model's order."""
        return list(self._infos("outputs"))

    def _ordered(self, given: tuple[Any, ...], which: str) -> list[Any]:
        """The arrays given, by name or in order, in order."""
        infos = self._infos(which)
        if len(given) == len(infos) and type(given[0] if given else None) is np.ndarray:
            return list(given)

        def known() -> str:
            return ", ".join(f'"{info.name}"' for info in infos)

        if len(given) == 1 and isinstance(given[0], Mapping):
            named = given[0]
            for name in named:
                if all(name != info.name for info in infos):
                    raise UsageError(f'the model has no {which[:-1]} "{name}"; its {which} are {known()}')
            for info in infos:
                if info.name not in named:
                    raise UsageError(f'{which[:-1]} "{info.name}" is missing; the model\'s {which} are {known()}')
            return [named[info.name] for info in infos]
        if len(given) != len(infos):
            count = f"{len(infos)} {which if len(infos) != 1 else which[:-1]}"
            raise UsageError(f"the model has {count} ({known()}), given {len(given)}")
        return list(given)

    def _tensors(self, values: Sequence[Any]) -> list[Any]:
        """Inputs in order as tensors. A UsageError that names the one that is none."""
        infos = self._infos("inputs")
        try:
            return [_arrays.to_tensor(value, info.dtype) for value, info in zip(values, infos)]
        except Exception:
            for value, info in zip(values, infos):
                try:
                    _arrays.to_tensor(value, info.dtype)
                except Exception as error:
                    reason = str(error).partition("\n")[0]
                    raise UsageError(f'input "{info.name}": {reason}') from error
            raise

    def run(self, *inputs: Any, out: Mapping[str, Any] | Sequence[Any] | None = None) -> list[Any]:
        """Runs the model once.

        Inputs are one dictionary by name, or arrays in the model's order: of numpy, torch, anything with DLPack on the CPU,
        or numbers. Arrays without gaps that are 64-byte aligned are read where they lie, others are copied.

        Returns the outputs in the model's order, a list also when it is one, of the kind that the inputs are (torch's if one
        of them is). With `out`, arrays by name or in order of the results' shapes and dtypes, the results are written there
        and those arrays returned; one may be, or overlap, an input, which is read before.

        Raises UsageError where a name, a shape or a dtype is not the model's: it says which were expected.
        """
        values = self._ordered(inputs, "inputs")
        tensors = self._tensors(values)
        if out is None:
            return _arrays.like(values, _run(self, tensors))
        if hasattr(out, "__dlpack__"):
            raise UsageError("out is a list of arrays, or a dictionary by name, also for one output")
        results = self._ordered((out,) if isinstance(out, Mapping) else tuple(out), "outputs")
        for result, info in zip(results, self._infos("outputs")):
            if getattr(getattr(result, "flags", None), "writeable", True) is False or not hasattr(result, "__dlpack__"):
                raise UsageError(f'the array for output "{info.name}" cannot be written to')
            if isinstance(result, np.ndarray) and not result.dtype.isnative:
                raise UsageError(f'the array for output "{info.name}" is of {result.dtype.str}, whose bytes are in another order than here')
        _run_into(self, tensors, [_arrays.to_tensor(result, info.dtype) for result, info in zip(results, self._infos("outputs"))])
        return results

    __call__ = run

    def run_async(self, *inputs: Any, out: Mapping[str, Any] | Sequence[Any] | None = None) -> RunFuture:
        """`run` in another thread; its future, which coroutines may await. Arrays must not change until it is done."""
        return in_another_thread(lambda: self.run(*inputs, out=out))

    def save(self, path: str | os.PathLike[str], *, weights: str | os.PathLike[str] = "") -> None:
        """Writes an artefact that `load`, the command and libdeuteron_runtime run; of what was loaded, a copy of its file.

        weights: a `.safetensors` file that its weights are added to, which other artefacts may share; the artefact finds it by
        the way from its own folder. Raises UsageError if a file cannot be written.
        """
        _library.function("save")(self, os.fsdecode(path), os.fsdecode(weights))

    def source(self) -> tuple[str | os.PathLike[str] | IRModule, dict[str, Any]]:
        """The path or the module that it was compiled from, and the arguments of `compile`. A UsageError of what was compiled from
        bytes or a message, or loaded."""
        if "_source" not in self.__dict__:
            raise UsageError("the executable was loaded, or compiled from bytes: give the model itself, its path or its module")
        return self.__dict__["_source"]

    def _figures(self) -> Mapping[str, Any]:
        return _library.function("figures")(self)

    @property
    def num_kernels(self) -> int:
        """Kernels that one run calls."""
        return self._figures()["num_kernels"]

    @property
    def backend(self) -> str:
        """The libraries that compute parts of it, separated by commas; "none" if there are none."""
        return self._figures()["backend"]

    @property
    def threads(self) -> int:
        """Threads of parallel loops."""
        return self._figures()["threads"]

    @property
    def target(self) -> str:
        """What it was compiled for."""
        return self._figures()["target"]

    @property
    def weight_bytes(self) -> int:
        """Bytes of its constants."""
        return self._figures()["weight_bytes"]

    @property
    def activation_bytes(self) -> int:
        """Bytes of activations of the last run."""
        return self._figures()["activation_bytes"]

    def __repr__(self) -> str:
        def text(infos: list[TensorInfo]) -> str:
            return ", ".join(f"{info.name}: {info.dtype}[{', '.join(map(str, info.shape))}]" for info in infos)

        return f"deuteron.Executable(({text(self._infos('inputs'))}) -> ({text(self._infos('outputs'))}))"


def _mapping(value: Any, what: str) -> dict[Any, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise UsageError(f"{what} are a dictionary by name, not {value!r}")
    return dict(value or {})


def _dims(shapes: Mapping[str, Sequence[int] | int] | None) -> dict[str, tvm_ffi.Shape]:
    named = {}
    for name, dims in _mapping(shapes, "shapes").items():
        try:
            single = hasattr(dims, "__index__") and not getattr(dims, "ndim", 0)
            numbers = [operator.index(dims)] if single else [operator.index(dim) for dim in dims]
        except TypeError:
            raise UsageError(f"the shape of {name} is not of numbers: {dims!r}") from None
        if any(abs(number) >= 2**63 for number in numbers):
            raise UsageError(f"the shape of {name} is not of numbers of 64 bits: {dims!r}")
        named[name] = tvm_ffi.Shape(numbers)
    return named


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def _limits(limits: Mapping[str, int | str] | None) -> dict[str, int]:
    named = {}
    for name, value in _mapping(limits, "limits").items():
        text = str(value)
        digits = text.rstrip("KMGTi")
        try:
            named[name] = int(digits) * _UNITS[text[len(digits) :]]
        except (ValueError, KeyError):
            raise UsageError(f"the limit {name} is a number such as 1000, 20M or 4Gi, not {value!r}") from None
    return named


Custom = Sequence[Union[str, "os.PathLike[str]", IRModule]]
"""Operators of the user's own (docs/custom-operators.md): modules, or paths of them (.py) and of shared objects (.so)."""


def _custom_modules(custom: Custom) -> list[IRModule]:
    paths = [each for each in custom if not isinstance(each, IRModule)]
    wrong = [path for path in paths if not os.fspath(path).endswith((".py", ".so"))]
    if wrong:
        raise UsageError(f"custom takes modules, their files (.py) and shared objects (.so), not {os.fspath(wrong[0])}")
    sources = [path for path in paths if os.fspath(path).endswith(".py")]
    return [*(each for each in custom if isinstance(each, IRModule)), *(read(path) for path in sources)]


def _custom_libraries(custom: Custom) -> list[str]:
    return [os.fspath(each) for each in custom if not isinstance(each, IRModule) and os.fspath(each).endswith(".so")]


def read(
    model: Model,
    shapes: Mapping[str, Sequence[int] | int] | None = None,
    limits: Mapping[str, int | str] | None = None,
    custom: Custom = (),
    folder: str | os.PathLike[str] = "",
) -> IRModule:
    """The module of a model. `shapes` are dimensions of inputs by name, or a symbolic dimension by its own; `limits` those of
    docs/limits.md; `custom` operators of one's own. External data of bytes and messages is looked for in `folder`, or in the
    working folder."""
    if isinstance(model, IRModule):
        if shapes:
            raise UsageError("shapes are for .onnx models; a module states its own")
        return model
    if isinstance(model, (str, os.PathLike)):
        return _read_module(os.fsdecode(model), _dims(shapes), _limits(limits), _custom_modules(custom))
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _parse_onnx(bytes(model), _dims(shapes), _limits(limits), _custom_modules(custom), os.fsdecode(folder))
    raise UsageError(f"a model is a path, bytes, an onnx.ModelProto or an IRModule, not {type(model).__name__}")


def compile(  # noqa: A001
    model: Model,
    *,
    target: str = "native",
    threads: int = 0,
    backend: str = "auto",
    precision: str = "f32",
    opt_level: int = 2,
    fuse: bool = True,
    shapes: Mapping[str, Sequence[int] | int] | None = None,
    config: Mapping[str, Any] | None = None,
    limits: Mapping[str, int | str] | None = None,
    custom: Custom = (),
    folder: str | os.PathLike[str] = "",
    cache: bool | str | os.PathLike[str] = False,
    disabled_passes: Sequence[str] = (),
    required_passes: Sequence[str] = (),
    instruments: Sequence[Any] = (),
    progress: Callable[[str], Any] | None = None,
) -> Executable:
    """Compiles a model.

    target: "native" (this CPU), or what docs/targets.md has: "x86-64-v3", "cortex-a72", several with commas between. What is for
        another machine than this can be saved, not run.
    threads: of parallel loops; 0: as many as this process may use.
    backend: "none": generated code does all; a library ("dnnl"): it does what it can; "auto": the better of both, by estimates.
    precision: "f32", or what products and convolutions of float32 may round their operands to: "bf16", "f16". Sums are of float32,
        and inputs, outputs and what is between kernels keep their dtypes.
    opt_level: 0 (no fusion) to 3.
    shapes: dimensions of inputs by name, where the model leaves them open.
    config: of passes, by key.
    limits: what the model may ask for, by name (docs/limits.md): {"nodes": 1000, "run_bytes": "1Gi"}; UnsupportedError where it asks
        for more.
    custom: operators of one's own (docs/custom-operators.md): modules, their files (.py), shared objects (.so).
    folder: of the external data of a model that is given as bytes or a message; else the working folder. (Of a path it is the file's.)
    cache: a folder of what was compiled before, which is looked at first and added to (docs/cache.md); True: the user's. What
        cannot be read or written there is a warning.
    instruments: called around every pass, as `transform.PassContext` has them.
    progress: called with each stage before it begins. What it raises ends the compilation, as Ctrl-C does between stages.

    Other Python threads run meanwhile. Raises ModelError for a model that is malformed, UnsupportedError for what is not
    implemented, UsageError for wrong options.
    """
    custom = custom or ()
    options = compile_options(
        target=target, threads=threads, backend=backend, precision=precision, opt_level=opt_level, fuse=fuse, config=config, limits=limits,
        disabled_passes=disabled_passes, required_passes=required_passes, instruments=instruments, progress=progress,
        cache=cache, custom=custom,
    )  # fmt: skip
    if isinstance(model, (str, os.PathLike)):
        made = _compile_file(os.fsdecode(model), _dims(shapes), _limits(limits), _custom_modules(custom), options)
    else:
        made = _compile(read(model, shapes, limits, custom, folder), options)
    if isinstance(model, (str, os.PathLike, IRModule)):
        # Bytes and messages are not held: they may be large.
        named = dict(
            shapes=shapes, limits=limits, custom=custom, target=target, threads=threads, backend=backend, precision=precision,
            opt_level=opt_level, fuse=fuse, config=config, disabled_passes=disabled_passes, required_passes=required_passes,
        )  # fmt: skip
        made.__dict__["_source"] = (model, named)
    return made


def _warn(message: str) -> None:
    """A warning that names the line of the user's program."""
    depth, frame = 1, sys._getframe()
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, RuntimeWarning, stacklevel=depth)


def _number(name: str, value: Any) -> int:
    """What the library takes as an int."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{name} is a number, not {value!r}") from None
    if abs(number) >= 2**31:
        raise UsageError(f"{name}: {number} is no number of 32 bits")
    return number


def seed_number(value: Any) -> int:
    """A seed as the library takes it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"seed is a number, not {value!r}") from None
    if not 0 <= number < 2**63:
        raise UsageError(f"seed is a number from 0 to 2**63 - 1, not {number}")
    return number


def not_negative(name: str, value: Any) -> float:
    """A finite number from 0."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name} is a number, not {value!r}") from None
    if not 0 <= number < math.inf:
        raise UsageError(f"{name} is a finite number from 0, not {value!r}")
    return number


def compile_options(**options: Any) -> dict[str, Any]:
    """Options of a compilation as the library takes them."""
    for key in ("disabled_passes", "required_passes"):
        names = options.pop(key, None)
        if isinstance(names, str):
            raise UsageError(f"{key} is a list of names, not {names!r}")
        options[key] = list(names or ())
    for key in ("target", "backend", "precision"):
        if not isinstance(options.get(key, ""), str):
            raise UsageError(f"{key} is text, not {options[key]!r}")
    for key in ("threads", "opt_level"):
        if key in options:
            options[key] = _number(key, options[key])
    if options.get("progress") is not None and not callable(options["progress"]):
        raise UsageError(f"progress is a function, not {options['progress']!r}")
    config = _mapping(options.pop("config", None), "config")
    options["limits"] = _limits(options.pop("limits", None))
    options["libraries"] = _custom_libraries(options.pop("custom", None) or ())
    cache = options.pop("cache", False)
    options["cache"] = cache if isinstance(cache, bool) else os.fspath(cache)
    options["warn"] = _library.callback(_warn)
    options["instruments"] = methods_of(options.pop("instruments", None) or ())
    if options.get("progress") is not None:
        options["progress"] = _library.callback(options["progress"])

    def text(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    options["config"] = {key: text(value) for key, value in config.items()}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in options.items()}


def load(path: str | os.PathLike[str], *, threads: int = 0, verify_weights: bool = False,
         weights: str | os.PathLike[str] = "") -> Executable:
    """Maps an artefact of `Executable.save` or `deuteron compile`.

    verify_weights: compares all weights with their checksums at once; else each is when it is first used. weights: the file of the
    weights of an artefact that was saved without them, if not where it was then. Raises ModelError if a file is missing, damaged,
    no artefact or has the weights of another, UnsupportedError if this CPU lacks what it was compiled for.
    """
    return _load(os.fsdecode(path), _number("threads", threads), bool(verify_weights), os.fsdecode(weights))
