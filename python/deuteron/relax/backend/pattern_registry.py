"""The patterns of all back ends, by name; those registered later have higher priority."""

from __future__ import annotations

import atexit
from typing import Any, Sequence

from ... import _library
from ..transform import FusionPattern, Pass, _as_pattern

# Functions of Python's must not outlive it.
_registered: set[str] = set()
atexit.register(lambda: remove_patterns(sorted(_registered)) if _registered else None)


def register_patterns(patterns: Sequence[FusionPattern | tuple[Any, ...]]) -> None:
    """Adds patterns, or tuples `(name, pattern, annotation_patterns, check)`."""
    entries = [_as_pattern(entry) for entry in patterns]
    _library.function("dpl.register_patterns")([entry._as_list() for entry in entries])
    _registered.update(entry.name for entry in entries)


def remove_patterns(names: Sequence[str]) -> None:
    """Removes all patterns of these names."""
    _library.function("dpl.remove_patterns")(list(names))
    _registered.difference_update(names)


def get_patterns_with_prefix(prefix: str) -> list[FusionPattern]:
    """Those whose names begin so, the highest priority first, with their checks: what `FuseOpsByPattern` takes."""

    def of(name: str, pattern: Any, parts: Any, check: Any, getter: Any) -> FusionPattern:
        return FusionPattern(name, pattern, dict(parts), check and (lambda context: check(context._fields())), getter)

    return [of(*fields) for fields in _library.function("dpl.patterns_with_prefix")(prefix)]


def fuse_registered(prefix: str, bind_constants: bool = True, annotate_codegen: bool = False) -> Pass:
    """FuseOpsByPattern of the patterns with that prefix, with their checks."""
    return _library.function("dpl.fuse_by_registered")(prefix, bind_constants, annotate_codegen)
