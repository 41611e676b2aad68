"""Instruments: objects that a PassContext calls around passes."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

from . import _library
from .errors import UsageError


@dataclasses.dataclass(frozen=True)
class PassInfo:
    """What is known of a pass."""

    name: str
    opt_level: int


_METHODS = ("enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass")


def methods_of(instruments: Sequence[Any]) -> list[dict[str, Any]]:
    """The methods of instruments, as the library calls them."""
    for each in instruments:
        if not any(hasattr(each, name) for name in _METHODS):
            raise UsageError(f"an instrument has one of the methods {', '.join(_METHODS)}; {each!r} has none")
    return [{name: _library.callback(getattr(each, name)) for name in _METHODS if hasattr(each, name)} for each in instruments]


def pass_instrument(cls: type) -> type:
    """Makes a class an instrument whose methods take `(module, info)`, `info` a PassInfo: any of `should_run`, `run_before_pass`,
    `run_after_pass`; and `enter_pass_ctx()`, `exit_pass_ctx()`."""

    def taking_info(name: str) -> Any:
        method = getattr(cls, name)

        def call(self: Any, module: Any, pass_name: str, opt_level: int) -> Any:
            return method(self, module, PassInfo(pass_name, opt_level))

        return call

    names = [name for name in ("should_run", "run_before_pass", "run_after_pass") if hasattr(cls, name)]
    return type(cls.__name__, (cls,), {"__doc__": cls.__doc__, "__module__": cls.__module__, **{name: taking_info(name) for name in names}})
