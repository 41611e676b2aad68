"""Expressions, bindings and types of the graph level, as objects to look at and to build (docs/language.md says what they mean).

    x = Var("x", TensorType((2, 3), "float32"))
    f = Function([x], op.exp(op.add(x, const(1.0, "float32"))))

Nodes never change. Dimensions are numbers or scalar expressions; `symbolic("n")` is a dimension known at run time.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
import tvm_ffi

from .. import _library
from ..errors import UsageError
from ..ir import Expr
from ..tir import PrimExpr


def _new(name: str, *arguments: Any) -> Any:
    return _library.function("relax." + name)(*arguments)


class _Node:
    """Constructs by the library's function of the same name as the class."""

    def _construct(self, *arguments: Any) -> None:
        self.__init_handle_by_constructor__(_library.function("relax." + type(self).__name__), *arguments)  # type: ignore[attr-defined]


def symbolic(name: str, dtype: str = "int64") -> Any:
    """A variable for a dimension: the same object is the same number wherever it occurs."""
    return _new("symbolic", name, dtype)


@tvm_ffi.register_object("deuteron.Type", init=False)
class Type(tvm_ffi.Object):
    """What is known of a value."""

    def __str__(self) -> str:
        return _library.function("show")(self)


@tvm_ffi.register_object("deuteron.TensorType", init=False)
class TensorType(_Node, Type):
    """A tensor: its shape, or its rank alone (`ndim`), or neither; its dtype, "void" if unknown."""

    def __init__(self, shape: Sequence[Any] | None = None, dtype: Any = "float32", ndim: int = -1) -> None:
        self._construct(None if shape is None else list(shape), str(dtype), ndim)


@tvm_ffi.register_object("deuteron.ShapeType", init=False)
class ShapeType(_Node, Type):
    """A shape as a value: its dimensions, or how many there are."""

    def __init__(self, values: Sequence[Any] | None = None, ndim: int = -1) -> None:
        self._construct(None if values is None else list(values), ndim)


@tvm_ffi.register_object("deuteron.TupleType", init=False)
class TupleType(_Node, Type):
    """A tuple of values of these types."""

    def __init__(self, fields: Sequence[Type]) -> None:
        self._construct(list(fields))


@tvm_ffi.register_object("deuteron.PrimType", init=False)
class PrimType(_Node, Type):
    """A scalar that is no tensor."""

    def __init__(self, dtype: str) -> None:
        self._construct(dtype)


@tvm_ffi.register_object("deuteron.AnyType", init=False)
class AnyType(_Node, Type):
    """Nothing is known."""

    def __init__(self) -> None:
        self._construct()


@tvm_ffi.register_object("deuteron.FuncType", init=False)
class FuncType(_Node, Type):
    """A function."""

    def __init__(self, params: Sequence[Type], ret: Type, purity: bool = True) -> None:
        self._construct(list(params), ret, purity)


@tvm_ffi.register_object("deuteron.relax.Var", init=False)
class Var(_Node, Expr):
    """A variable, compared by identity. The type of a parameter must be given, others are inferred where they are bound."""

    def __init__(self, name_hint: str, ty: Type | None = None) -> None:
        self._construct(name_hint, ty)


@tvm_ffi.register_object("deuteron.relax.DataflowVar", init=False)
class DataflowVar(Var):
    """A variable that is seen in its dataflow block only."""


@tvm_ffi.register_object("deuteron.relax.Constant", init=False)
class Constant(_Node, Expr):
    """A tensor, copied from an array."""

    def __init__(self, data: Any) -> None:
        array = data if isinstance(data, tvm_ffi.core.Tensor) else tvm_ffi.from_dlpack(np.array(data, order="C"))
        self._construct(array)

    def numpy(self) -> np.ndarray:
        """Its elements, not to be written to."""
        return np.from_dlpack(self.data)


@tvm_ffi.register_object("deuteron.relax.Tuple", init=False)
class Tuple(_Node, Expr):
    """Several values as one."""

    def __init__(self, fields: Sequence[Any]) -> None:
        self._construct([as_expr(field) for field in fields])


@tvm_ffi.register_object("deuteron.relax.TupleGetItem", init=False)
class TupleGetItem(_Node, Expr):
    """A field of a tuple. A ModelError for one that it has not."""

    def __init__(self, tuple_value: Expr, index: int) -> None:
        self._construct(tuple_value, index)


@tvm_ffi.register_object("deuteron.relax.Call", init=False)
class Call(_Node, Expr):
    """`op` (an operator, variable, function's name or external function) of `args`. `op.NAME` makes calls of operators."""

    def __init__(self, op: Expr, args: Sequence[Any], attrs: Any = None, ty_args: Sequence[Type] | None = None) -> None:
        self._construct(op, [as_expr(arg) for arg in args], attrs, list(ty_args or ()))


@tvm_ffi.register_object("deuteron.relax.ShapeExpr", init=False)
class ShapeExpr(_Node, Expr):
    """A shape as a value."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._construct(list(values))


@tvm_ffi.register_object("deuteron.relax.PrimValue", init=False)
class PrimValue(_Node, Expr):
    """A number (int64, float64 or bool) or a scalar expression as a value."""

    def __init__(self, value: Any) -> None:
        self._construct(value)


@tvm_ffi.register_object("deuteron.relax.StringImm", init=False)
class StringImm(_Node, Expr):
    """Text as a value."""

    def __init__(self, value: str) -> None:
        self._construct(value)


@tvm_ffi.register_object("deuteron.relax.DataTypeImm", init=False)
class DataTypeImm(_Node, Expr):
    """A dtype as a value."""

    def __init__(self, value: str) -> None:
        self._construct(value)


@tvm_ffi.register_object("deuteron.Op", init=False)
class Op(_Node, Expr):
    """An operator by its name, "relax.add". A UsageError if there is none."""

    def __init__(self, name: str) -> None:
        self._construct(name.removeprefix("relax."))

    @staticmethod
    def get(name: str) -> Op:
        """The same as `Op(name)`."""
        return Op(name)


@tvm_ffi.register_object("deuteron.GlobalVar", init=False)
class GlobalVar(_Node, Expr):
    """The name of a function of a module, compared by identity within it."""

    def __init__(self, name_hint: str) -> None:
        self._construct(name_hint)


@tvm_ffi.register_object("deuteron.relax.ExternFunc", init=False)
class ExternFunc(_Node, Expr):
    """A function outside of the module, by the name under which it is found at run time."""

    def __init__(self, global_symbol: str) -> None:
        self._construct(global_symbol)


@tvm_ffi.register_object("deuteron.relax.Binding", init=False)
class Binding(tvm_ffi.Object):
    """`var` gets a value."""

    def __str__(self) -> str:
        return _library.function("show")(self)


@tvm_ffi.register_object("deuteron.relax.VarBinding", init=False)
class VarBinding(_Node, Binding):
    """`var = value`"""

    def __init__(self, var: Var, value: Expr) -> None:
        self._construct(var, value)


@tvm_ffi.register_object("deuteron.relax.MatchCast", init=False)
class MatchCast(_Node, Binding):
    """`var = R.match_cast(value, ty)`: checks the type at run time and binds the symbols in it."""

    def __init__(self, var: Var, value: Expr, ty: Type) -> None:
        self._construct(var, value, ty)


@tvm_ffi.register_object("deuteron.relax.BindingBlock", init=False)
class BindingBlock(_Node, tvm_ffi.Object):
    """Bindings in order."""

    def __init__(self, bindings: Sequence[Binding]) -> None:
        self._construct(list(bindings))


@tvm_ffi.register_object("deuteron.relax.DataflowBlock", init=False)
class DataflowBlock(BindingBlock):
    """Bindings without side effects or branches."""


@tvm_ffi.register_object("deuteron.relax.SeqExpr", init=False)
class SeqExpr(_Node, Expr):
    """Blocks, then a value."""

    def __init__(self, blocks: Sequence[BindingBlock], body: Expr) -> None:
        self._construct(list(blocks), body)


@tvm_ffi.register_object("deuteron.relax.If", init=False)
class If(_Node, Expr):
    """One of two branches."""

    def __init__(self, cond: Expr, true_branch: SeqExpr, false_branch: SeqExpr) -> None:
        self._construct(cond, true_branch, false_branch)


@tvm_ffi.register_object("deuteron.relax.Function", init=False)
class Function(_Node, Expr):
    """A function of the graph level.

    body: a SeqExpr, or any expression of calls in calls, whose bindings are then made and whose types are inferred; what occurs
    in it more than once (the same object) is computed once.
    """

    def __init__(
        self,
        params: Sequence[Var],
        body: Expr,
        ret_ty: Type | None = None,
        is_pure: bool = True,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(body, SeqExpr):
            from .block_builder import bind_all

            body = bind_all(params, body)
        self._construct(list(params), body, ret_ty, is_pure, dict(attrs or {}))

    def with_attr(self, name: str, value: Any) -> Function:
        """This, with an attribute set."""
        attrs = {} if self.attrs is None else dict(self.attrs.dict)
        return Function(self.params, self.body, self.ret_ty, self.is_pure, {**attrs, name: value})

    def without_attr(self, name: str) -> Function:
        """This, without an attribute."""
        attrs = {} if self.attrs is None else dict(self.attrs.dict)
        attrs.pop(name, None)
        return Function(self.params, self.body, self.ret_ty, self.is_pure, attrs)

    def __str__(self) -> str:
        return _library.function("show")(self)


def const(value: Any, dtype: str | None = None) -> Constant:
    """A constant from a number or an array. Numbers without a dtype are int32, float32 or bool."""
    if dtype is None and isinstance(value, (bool, int, float)):
        dtype = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
    return Constant(np.array(value, dtype))


def as_expr(value: Any) -> Expr:
    """`value` as an argument of a call: arrays become constants, numbers PrimValues, text a StringImm, sequences of dimensions
    shapes, other sequences tuples. A UsageError for anything else."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, np.ndarray):
        return Constant(value)
    if isinstance(value, np.generic):
        return Constant(np.asarray(value))
    if isinstance(value, str):
        return StringImm(value)
    if isinstance(value, (bool, int, float)) or _is_scalar(value):
        return PrimValue(value)
    if isinstance(value, (list, tuple, tvm_ffi.Array)):
        if value and all(isinstance(item, int) or _is_scalar(item) for item in value):
            return ShapeExpr(value)
        return Tuple(value)
    raise UsageError(f"an argument is an expression, an array, a number, text or a sequence of those, not {type(value).__name__}")


def _is_scalar(value: Any) -> bool:
    return isinstance(value, PrimExpr)
