"""Scalar expressions of the loop level: dimensions, indices, and what tensor expressions (`deuteron.te`) are made of.

    n = Var("n", "int64")
    (n + 3) // 4

`+ - * / // % < <= > >=`, negation and numbers of Python's make new expressions (`//` and `%` round down); a number takes the other
operand's dtype. `==` asks whether two are the same object: `equal(a, b)` is the expression.
"""

from __future__ import annotations

from typing import Any

import tvm_ffi

from . import _library


def _binary(name: str, a: Any, b: Any) -> Any:
    return _library.function("tir.binary")(name, a, b)


class _Arithmetic:
    """The operators of Python, as expressions."""

    def __add__(self, other: Any) -> PrimExpr:
        return _binary("+", self, other)

    def __radd__(self, other: Any) -> PrimExpr:
        return _binary("+", other, self)

    def __sub__(self, other: Any) -> PrimExpr:
        return _binary("-", self, other)

    def __rsub__(self, other: Any) -> PrimExpr:
        return _binary("-", other, self)

    def __mul__(self, other: Any) -> PrimExpr:
        return _binary("*", self, other)

    def __rmul__(self, other: Any) -> PrimExpr:
        return _binary("*", other, self)

    def __truediv__(self, other: Any) -> PrimExpr:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Any) -> PrimExpr:
        return _binary("/", other, self)

    def __floordiv__(self, other: Any) -> PrimExpr:
        return _binary("//", self, other)

    def __rfloordiv__(self, other: Any) -> PrimExpr:
        return _binary("//", other, self)

    def __mod__(self, other: Any) -> PrimExpr:
        return _binary("%", self, other)

    def __rmod__(self, other: Any) -> PrimExpr:
        return _binary("%", other, self)

    def __lt__(self, other: Any) -> PrimExpr:
        return _binary("<", self, other)

    def __le__(self, other: Any) -> PrimExpr:
        return _binary("<=", self, other)

    def __gt__(self, other: Any) -> PrimExpr:
        return _binary(">", self, other)

    def __ge__(self, other: Any) -> PrimExpr:
        return _binary(">=", self, other)

    def __neg__(self) -> PrimExpr:
        return _binary("-", 0, self)

    def astype(self, dtype: str) -> PrimExpr:
        """The value converted to another dtype, as C does."""
        return _library.function("tir.cast")(self, dtype)


@tvm_ffi.register_object("deuteron.PrimExpr", init=False)
class PrimExpr(_Arithmetic, tvm_ffi.Object):
    """A scalar expression; `dtype` is its type."""

    def __str__(self) -> str:
        return _library.function("show")(self)

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false before it runs; tir.if_then_else chooses, tir.all and tir.any combine")


@tvm_ffi.register_object("deuteron.tir.IterVar", init=False)
class IterVar(_Arithmetic, tvm_ffi.Object):
    """An axis: a variable (`var`) with its range (`dom`); where a number is expected it is the variable."""


def Var(name: str, dtype: str = "int64") -> PrimExpr:
    """A variable; the same object is the same value wherever it occurs."""
    return _library.function("relax.symbolic")(name, dtype)


def const(value: float, dtype: str = "int64") -> PrimExpr:
    """A number of that dtype."""
    return _library.function("tir.const")(value, dtype)


def if_then_else(condition: Any, true_value: Any, false_value: Any) -> PrimExpr:
    """One of two values; the other is not computed, so that it may read what is not there."""
    return _library.function("tir.if_then_else")(condition, true_value, false_value)


def Select(condition: Any, true_value: Any, false_value: Any) -> PrimExpr:
    """One of two values; both are computed."""
    return _library.function("tir.select")(condition, true_value, false_value)


def min(a: Any, b: Any) -> PrimExpr:  # noqa: A001
    """The lesser of two values."""
    return _binary("min", a, b)


def max(a: Any, b: Any) -> PrimExpr:  # noqa: A001
    """The greater of two values."""
    return _binary("max", a, b)


def equal(a: Any, b: Any) -> PrimExpr:
    """Whether two values are equal."""
    return _binary("==", a, b)


def not_equal(a: Any, b: Any) -> PrimExpr:
    """Whether two values differ."""
    return _binary("!=", a, b)


def all(*conditions: Any) -> PrimExpr:  # noqa: A001
    """Whether all hold."""
    return _folded("and", conditions)


def any(*conditions: Any) -> PrimExpr:  # noqa: A001
    """Whether one holds."""
    return _folded("or", conditions)


def _folded(name: str, conditions: tuple[Any, ...]) -> PrimExpr:
    result = conditions[0]
    for condition in conditions[1:]:
        result = _binary(name, result, condition)
    return result


def call_intrin(name: str, *args: Any, dtype: str | None = None) -> PrimExpr:
    """A call of the intrinsic `T.<name>` of the language, its result of `dtype` or that of its first argument. A UsageError if there
    is none of that name, or with other arguments."""
    return _library.function("tir.call_intrin")(name, list(args), dtype)


def exp(x: Any) -> PrimExpr:
    """e to the power of x."""
    return call_intrin("exp", x)


def log(x: Any) -> PrimExpr:
    """The natural logarithm."""
    return call_intrin("log", x)


def sqrt(x: Any) -> PrimExpr:
    """The square root."""
    return call_intrin("sqrt", x)


def rsqrt(x: Any) -> PrimExpr:
    """One over the square root."""
    return call_intrin("rsqrt", x)


def tanh(x: Any) -> PrimExpr:
    """The hyperbolic tangent."""
    return call_intrin("tanh", x)


def sigmoid(x: Any) -> PrimExpr:
    """1 / (1 + exp(-x))"""
    return call_intrin("sigmoid", x)


def erf(x: Any) -> PrimExpr:
    """The error function."""
    return call_intrin("erf", x)


def abs(x: Any) -> PrimExpr:  # noqa: A001
    """The magnitude."""
    return call_intrin("abs", x)


def floor(x: Any) -> PrimExpr:
    """The greatest whole number that is not above x."""
    return call_intrin("floor", x)


def power(a: Any, b: Any) -> PrimExpr:
    """a to the power of b."""
    return call_intrin("pow", a, b)
