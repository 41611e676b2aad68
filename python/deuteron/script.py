"""Modules as text.

    @deuteron.script.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32")): ...

The class is never run: its source is read by the library's parser (docs/language.md), so that R, T and I are only names. Values
of the Python program around it are not seen.
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

from . import _library
from .errors import UsageError
from .ir import IRModule

_parse = _library.function("parse_script")


class _Name:
    """R, T or I: the decorators and annotations of a class that is not run."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return _Name(f"{self._name}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        # As a decorator it leaves what it decorates.
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not named else self

    def __getitem__(self, index: Any) -> Any:
        return self

    def __repr__(self) -> str:
        return self._name


R = _Name("R")
T = _Name("T")


def parse(text: str, name: str = "<text>") -> IRModule:
    """The module in `text`. A ModelError shows the line, a caret, and what was expected."""
    return _parse(text, name)


def ir_module(cls: Any) -> IRModule:
    """The module that the source of a class says."""
    try:
        source = textwrap.dedent(inspect.getsource(cls))
        name = inspect.getsourcefile(cls) or "<class>"
    except (OSError, TypeError):
        raise UsageError(f"the source of {cls!r} cannot be read; deuteron.script.parse takes it as text") from None
    first = source.index("class ")
    return _parse("@I.ir_module\n" + source[first:], name)


class _Module(_Name):
    ir_module = staticmethod(ir_module)


I = _Module("I")  # noqa: E741
