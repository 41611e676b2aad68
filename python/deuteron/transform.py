"""Passes from module to module, and the context they run in.

Every pass of the library is a function here by its name, with the parameters that `deuteron opt --list-passes` shows:

    deuteron.transform.Sequential([FuseOps(fuse_opt_level=2), FuseTIR()])(module)
"""

from __future__ import annotations

import inspect
import threading
from typing import Any, Callable, Sequence

import tvm_ffi

from . import _library
from .errors import UsageError
from .instrument import PassInfo, methods_of
from .ir import IRModule

_named_pass = _library.function("named_pass")
_enter_context = _library.calling("enter_context")
_exit_context = _library.calling("exit_context")
_run_pass = _library.calling("run_pass")


@tvm_ffi.register_object("deuteron.transform.Pass", init=False)
class Pass(tvm_ffi.Object):
    """Runs in the innermost PassContext."""

    @property
    def name(self) -> str:
        """As instruments and contexts know it."""
        return _library.function("pass_name")(self)

    @property
    def info(self) -> PassInfo:
        """Its name, and the least optimisation level of a context in which a Sequential runs it."""
        return PassInfo(self.name, _library.function("pass_opt_level")(self))

    def __call__(self, module: IRModule) -> IRModule:
        if not isinstance(module, IRModule):
            raise UsageError(f"{self.name} takes an IRModule, not {type(module).__name__}")
        return _run_pass(self, module)

    def __repr__(self) -> str:
        return f"deuteron.transform.{self.name}"


@tvm_ffi.register_object("deuteron.transform.Sequential", init=False)
class _Sequential(Pass):
    pass


def Sequential(passes: Sequence[Pass], name: str = "Sequential") -> Pass:
    """Runs passes in order: those that the context enables, each after those it requires."""
    return _library.function("sequential")(list(passes), name)


def pipeline(name: str) -> Pass:
    """A pipeline of `deuteron opt --list-passes` by its name: "import", "fuse", …"""
    return _library.function("pipeline")(name)


def _decorator(kind: str, body: Any, opt_level: int, name: str | None, required: Sequence[str]) -> Any:
    make = _library.function(kind)
    taken = 1 if kind == "module_pass" else 2

    def decorate(body: Any) -> Any:
        if inspect.isclass(body):
            method = {"module_pass": "transform_module", "function_pass": "transform_function"}.get(kind, "transform_dataflowblock")

            def construct(*arguments: Any, **named: Any) -> Pass:
                instance = body(*arguments, **named)
                return make(_callback(getattr(instance, method), taken), name or body.__name__, opt_level, list(required))

            return construct
        return make(_callback(body, taken), name or body.__name__, opt_level, list(required))

    return decorate if body is None else decorate(body)


def _callback(body: Any, taken: int) -> Any:
    """`body` as the library calls it, with `taken` arguments; one that takes one more is given the context."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [each for each in inspect.signature(body).parameters.values() if each.kind in kinds]
    if len(parameters) <= taken:
        return _library.callback(body)
    return _library.callback(lambda *arguments: body(*arguments, PassContext.current()))


def module_pass(body: Any = None, *, opt_level: int = 0, name: str | None = None, required: Sequence[str] = ()) -> Any:
    """A pass from a function `module -> module`, or from a class with `transform_module(self, module)`. All three kinds take
    the PassContext as one argument more if they have one."""
    return _decorator("module_pass", body, opt_level, name, required)


def function_pass(body: Any = None, *, opt_level: int = 0, name: str | None = None, required: Sequence[str] = ()) -> Any:
    """A pass over graph-level functions: `(function, module) -> function`, or a class with `transform_function`."""
    return _decorator("function_pass", body, opt_level, name, required)


def dataflowblock_pass(body: Any = None, *, opt_level: int = 0, name: str | None = None, required: Sequence[str] = ()) -> Any:
    """A pass over dataflow blocks: `(block, module) -> block`, or a class with `transform_dataflowblock`."""
    return _decorator("dataflowblock_pass", body, opt_level, name, required)


class PassContext:
    """Options of the passes that are run within `with PassContext(...):`, in this thread.

    instruments: objects with any of `enter_pass_ctx()`, `exit_pass_ctx()`, `should_run(module, name, opt_level)`,
    `run_before_pass(module, name, opt_level)`, `run_after_pass(module, name, opt_level)`.
    """

    def __init__(
        self,
        *,
        opt_level: int = 2,
        required_pass: Sequence[str] = (),
        disabled_pass: Sequence[str] = (),
        instruments: Sequence[Any] = (),
        config: dict[str, Any] | None = None,
    ) -> None:
        self.opt_level = opt_level
        self.required_pass = list(required_pass)
        self.disabled_pass = list(disabled_pass)
        self.instruments = list(instruments)
        self.config = dict(config or {})

    def __enter__(self) -> PassContext:
        _enter_context(self.opt_level, self.config, self.required_pass, self.disabled_pass, methods_of(self.instruments))
        _entered.contexts.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        _entered.contexts.pop()
        _exit_context()

    @staticmethod
    def current() -> PassContext:
        """The innermost that is entered in this thread; one with the defaults if there is none."""
        return _entered.contexts[-1] if _entered.contexts else PassContext()


class _Entered(threading.local):
    def __init__(self) -> None:
        self.contexts: list[PassContext] = []


_entered = _Entered()


def _factory(name: str, description: str, parameters: Sequence[str]) -> Callable[..., Pass]:
    def make(*arguments: Any, **named: Any) -> Pass:
        if len(arguments) > len(parameters):
            raise TypeError(f"{name} takes {len(parameters)} arguments ({', '.join(parameters)}), given {len(arguments)}")
        return _named_pass(name, {**dict(zip(parameters, arguments)), **named})

    make.__name__ = make.__qualname__ = name
    make.__doc__ = description
    kind = inspect.Parameter
    named_parameters = [kind(each, kind.POSITIONAL_OR_KEYWORD, default=..., annotation=Any) for each in parameters]
    make.__signature__ = inspect.Signature(named_parameters, return_annotation=Pass)  # type: ignore[attr-defined]
    return make


_PASSES = {name: _factory(name, description, list(parameters)) for name, description, parameters in _library.function("list_passes")()}
globals().update(_PASSES)


def __dir__() -> list[str]:
    return sorted(globals())


def __getattr__(name: str) -> Callable[..., Pass]:
    raise AttributeError(f"there is no pass {name}; deuteron opt --list-passes lists them")
