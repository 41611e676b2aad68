"""Makes the functions of `deuteron.relax.op` from the table of operators."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Sequence

import tvm_ffi

from .. import _library
from ..errors import UsageError
from ..ir import Expr
from .expr import Call, ExternFunc, ShapeExpr, Tuple, TupleType, Type, as_expr

_call_op = _library.function("relax.call_op")
_registered: list[Callable[..., Any]] = []


def call_tir(func: Any, args: Any, out_ty: Type | Sequence[Type], tir_vars: Any = None) -> Call:
    """A call of a loop-level function, which writes to new tensors of type `out_ty`."""
    return _destination("call_tir", func, args, out_ty, tir_vars)


def call_dps_packed(func: Any, args: Any, out_ty: Type | Sequence[Type]) -> Call:
    """A call of an external function, which writes to new tensors of type `out_ty`."""
    return _destination("call_dps_packed", func, args, out_ty)


def _destination(name: str, func: Any, args: Any, out_ty: Any, tir_vars: Any = None) -> Call:
    callee = ExternFunc(func) if isinstance(func, str) else func
    fields = Tuple(args) if isinstance(args, (list, tuple)) else args if isinstance(args, Tuple) else Tuple([args])
    symbols = [] if tir_vars is None else [tir_vars if isinstance(tir_vars, Expr) else ShapeExpr(tir_vars)]
    ty = out_ty if isinstance(out_ty, tvm_ffi.Object) and isinstance(out_ty, Type) else TupleType(list(out_ty))
    return _call_op(name, [callee, fields, *symbols], {}, [ty])


def register_alter_op_layout(op_name: str, alter: Callable[..., Any] | None = None, level: int = 10) -> Any:
    """Registers, also as a decorator, a choice of layouts for AlterOpLayout: `alter(attrs, inputs, types, out_type)` returns a call
    with other layouts or None; that of the highest level is asked. It stays until the process ends."""

    def register(alter: Callable[..., Any]) -> Callable[..., Any]:
        name = op_name if op_name.startswith("relax.") else "relax." + op_name
        _registered.append(alter)
        _library.function("relax.register_alter_op_layout")(name, _library.callback(alter), level)
        return alter

    return register if alter is None else register(alter)


class _Group:
    """Operators of one family, "nn"."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.__doc__ = f"The operators {name}.*"

    def __dir__(self) -> list[str]:
        return sorted(name for name in self.__dict__ if not name.startswith("_"))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no operator {self.__name__}.{name}")


def _argument(name: str, value: Any) -> Any:
    if name in ("shape", "size", "new_shape") and isinstance(value, (list, tuple)):
        return ShapeExpr(value)
    return ExternFunc(value) if name == "func" and isinstance(value, str) else as_expr(value)


def _attribute(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _make(full_name: str, arguments: list[str], attributes: list[str]) -> Callable[..., Call]:
    variadic = arguments[-1:] == ["*"]
    named = [name.rstrip("?") for name in arguments if name != "*"]

    def make(*given: Any, **by_name: Any) -> Call:
        operands = list(given[: len(named)])
        rest = list(given[len(named) :])
        values: dict[str, Any] = {}
        if not variadic:
            if len(rest) > len(attributes):
                raise UsageError(f"relax.{full_name} takes at most {len(named) + len(attributes)} arguments, given {len(given)}")
            values = dict(zip(attributes, rest))
            rest = []
        operands += [None] * (len(named) - len(operands))
        ty_args = by_name.pop("ty_args", ())
        for name, value in by_name.items():
            if name in named and operands[named.index(name)] is None:
                operands[named.index(name)] = value
            elif name in named or name in values:
                raise UsageError(f"relax.{full_name} is given {name} twice")
            else:
                values[name] = value
        converted = [None if value is None else _argument(name, value) for name, value in zip(named, operands)]
        passed = {name: _attribute(value) for name, value in values.items()}
        return _call_op(full_name, converted + [as_expr(value) for value in rest], passed, list(ty_args))

    make.__name__ = full_name.rsplit(".", 1)[-1]
    make.__qualname__ = full_name
    make.__doc__ = f"relax.{full_name}({', '.join(arguments)}). Attributes: {', '.join(attributes) or 'none'}. A UsageError for others."
    make.__signature__ = _signature(arguments, attributes)  # type: ignore[attr-defined]
    return make


def _signature(arguments: list[str], attributes: list[str]) -> inspect.Signature:
    kind = inspect.Parameter
    parameters = []
    for name in arguments:
        default = None if name.endswith("?") or parameters and parameters[-1].default is None else kind.empty
        if name == "*":
            parameters.append(kind("args", kind.VAR_POSITIONAL, annotation=Any))
        else:
            parameters.append(kind(name.rstrip("?"), kind.POSITIONAL_OR_KEYWORD, default=default, annotation=Any))
    where = kind.KEYWORD_ONLY if arguments[-1:] == ["*"] else kind.POSITIONAL_OR_KEYWORD
    known = {each.name for each in parameters}
    parameters += [kind(name, where, default=..., annotation=Any) for name in attributes if name not in known]
    return inspect.Signature(parameters, return_annotation=Call)


_OPERATORS = {name: (list(arguments), list(attrs)) for name, arguments, attrs in _library.function("relax.list_ops")()}


def functions() -> dict[str, Any]:
    """What `deuteron.relax.op` holds: functions, and groups of them."""
    top = _Group("op")
    groups = {"": top}
    for full_name, (arguments, attributes) in _OPERATORS.items():
        *families, name = full_name.split(".")
        path = ""
        for family in families:
            outer, path = groups[path], f"{path}.{family}".lstrip(".")
            if path not in groups:
                groups[path] = _Group(path)
                setattr(outer, family, groups[path])
        setattr(groups[path], name, _make(full_name, arguments, attributes))
    return {name: getattr(top, name) for name in dir(top)}
