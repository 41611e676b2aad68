"""The passes of deuteron.transform, and fusion by patterns."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Sequence

from .. import _library
from .. import transform as _transform
from ..transform import Pass
from .dpl import DFPattern


@dataclasses.dataclass(frozen=True)
class PatternCheckContext:
    """What a check may look at before a match is accepted."""

    matched_expr: Any
    """The call that the whole pattern matched."""
    annotated_expr: Mapping[str, Any]
    """What the annotated parts matched, by name."""
    matched_bindings: Mapping[Any, Any]
    """The bindings that would be fused."""
    var_usages: Mapping[Any, Any]
    """Of variables: the variables bound to what uses them."""
    value_to_bound_var: Mapping[Any, Any]
    """Of values: their variables."""

    def has_leaking_intermediate_variables(self) -> bool:
        """Whether something outside of the match uses one of its values other than the last."""
        return _library.function("dpl.has_leaking_intermediates")(self._fields())

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


@dataclasses.dataclass(frozen=True)
class FusionPattern:
    """Something that a library computes in one call.

    name: "dnnl.conv2d_relu" becomes the attribute Composite. check: whether to take a match. attrs_getter: attributes of the
    function, from the annotated expressions.
    """

    name: str
    pattern: DFPattern
    annotation_patterns: Mapping[str, DFPattern] = dataclasses.field(default_factory=dict)
    check: Callable[[PatternCheckContext], bool] | None = None
    attrs_getter: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def _as_list(self) -> list[Any]:
        check, getter = self.check, self.attrs_getter
        return [
            self.name,
            self.pattern,
            dict(self.annotation_patterns),
            None if check is None else _library.callback(lambda fields: bool(check(PatternCheckContext(**fields)))),
            None if getter is None else _library.callback(lambda annotated: dict(getter(annotated))),
        ]


def _as_pattern(entry: Any) -> FusionPattern:
    return entry if isinstance(entry, FusionPattern) else FusionPattern(*entry)


def FuseOpsByPattern(
    patterns: Sequence[FusionPattern | tuple[Any, ...]],
    bind_constants: bool = True,
    annotate_codegen: bool = False,
    entry_functions: Sequence[str] = (),
) -> Pass:
    """Marks what patterns match as functions with the attribute Composite. `patterns` (or tuples of their fields) in order of
    priority, the highest first."""
    lists = [_as_pattern(entry)._as_list() for entry in patterns]
    return _library.function("dpl.fuse_by_patterns")(lists, bind_constants, annotate_codegen, list(entry_functions))


def __getattr__(name: str) -> Any:
    return getattr(_transform, name)
