"""The pattern language (docs/patterns.md): describing expressions, finding and rewriting them.

    out = is_op("relax.add")(is_op("relax.matmul")(wildcard(), wildcard()), wildcard())
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import tvm_ffi

from .. import _library


def _function(name: str) -> Any:
    return _library.function("dpl." + name)


@tvm_ffi.register_object("deuteron.relax.dpl.DFPattern", init=False)
class DFPattern(tvm_ffi.Object):
    """What an expression may look like. Patterns are compared by identity: one that occurs twice matches one value twice."""

    def __call__(self, *args: DFPattern, varg_default_wildcard: bool = False) -> DFPattern:
        """A call of what this matches; with `varg_default_wildcard` of any further arguments too."""
        return _function("call")(self, list(args), varg_default_wildcard)

    def __or__(self, other: DFPattern) -> DFPattern:
        return _function("any_of")(self, other)

    def __and__(self, other: DFPattern) -> DFPattern:
        return _function("all_of")(self, other)

    def __invert__(self) -> DFPattern:
        return _function("none_of")(self)

    def __getitem__(self, index: int) -> DFPattern:
        return _function("item")(self, index)

    def __add__(self, other: DFPattern) -> DFPattern:
        return is_op("relax.add")(self, other)

    def __sub__(self, other: DFPattern) -> DFPattern:
        return is_op("relax.subtract")(self, other)

    def __mul__(self, other: DFPattern) -> DFPattern:
        return is_op("relax.multiply")(self, other)

    def __truediv__(self, other: DFPattern) -> DFPattern:
        return is_op("relax.divide")(self, other)

    def has_attr(self, attrs: Mapping[str, Any]) -> DFPattern:
        """This, with these attributes too."""
        return _function("has_attr")(self, dict(attrs))

    def has_dtype(self, dtype: str) -> DFPattern:
        """This, of that element type."""
        return _function("has_dtype")(self, dtype)

    def has_shape(self, shape: Sequence[Any]) -> DFPattern:
        """This, provably of that shape."""
        return _function("has_shape")(self, list(shape))

    def has_type(self, ty: Any) -> DFPattern:
        """This, of that type or one below it."""
        return _function("has_type")(self, ty)

    def dup(self) -> DFPattern:
        """A pattern of its own that matches the same."""
        return _function("dup")(self)

    def match(self, expr: Any, function: Any = None) -> bool:
        """Whether it matches. Variables that `function` binds are looked through."""
        return _function("match")(self, expr, function)

    def extract_matched_expr(self, expr: Any, function: Any = None) -> Mapping[DFPattern, Any] | None:
        """What each part matched, or None."""
        return _function("extract_matched_expr")(self, expr, function)

    def __str__(self) -> str:
        return _function("describe")(self)

    def __repr__(self) -> str:
        return _function("describe")(self)


def wildcard() -> DFPattern:
    """Anything."""
    return _function("wildcard")()


def is_op(name: str) -> DFPattern:
    """The operator of that name; call it for a call of it."""
    return _function("is_op")(name)


def is_expr(expr: Any) -> DFPattern:
    """An expression that is structurally equal."""
    return _function("is_expr")(expr)


def is_var(name: str = "") -> DFPattern:
    """A variable, of that name if one is given."""
    return _function("is_var")(name)


def is_dfv(name: str = "") -> DFPattern:
    """A variable of a dataflow block."""
    return _function("is_dfv")(name)


def is_gv(name: str = "") -> DFPattern:
    """The name of a function of the module."""
    return _function("is_gv")(name)


def is_const() -> DFPattern:
    """A constant."""
    return _function("is_const")()


def is_tuple(fields: Sequence[DFPattern], unordered: bool = False) -> DFPattern:
    """A tuple of these, in any order if `unordered`."""
    return _function("is_tuple")(list(fields), unordered)


def is_tuple_get_item(pattern: DFPattern, index: int | None = None) -> DFPattern:
    """An item of a tuple, that of `index` if it is given."""
    return _function("is_tuple_get_item")(pattern, -1 if index is None else index)


def is_call_tir(name: str = "", args: Sequence[DFPattern] | None = None) -> DFPattern:
    """A call_tir of the function of that name."""
    return _function("is_call_tir")(name, None if args is None else list(args))


def is_call_dps_packed(name: str = "", args: Sequence[DFPattern] | None = None) -> DFPattern:
    """A call_dps_packed of the external function of that name."""
    return _function("is_call_dps_packed")(name, None if args is None else list(args))


def is_call_packed(name: str = "", args: Sequence[DFPattern] | None = None) -> DFPattern:
    """A call of the external function of that name."""
    return _function("is_call_packed")(name, None if args is None else list(args))


def rewrite_call(pattern: DFPattern, rewriter: Callable[[Any, Mapping[DFPattern, Any]], Any], function: Any) -> Any:
    """`function` with every value that `pattern` matches replaced by `rewriter(value, matches)`, to a fixed point."""
    return _library.calling("dpl.rewrite_call")(pattern, _library.callback(rewriter), function)
