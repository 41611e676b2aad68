"""The computations of the operators as functions of tensor expressions, under the operators' names and with their arguments:
`topi.add(a, b)`, `topi.nn.dense(x, w)`, `topi.sum(x, axis=1)`.

Each is checked as the operator is: a ModelError shows both shapes. An UnsupportedError for an operator that is no single computation of
tensors (`relax.print`, or one that is made of others).
"""

from __future__ import annotations

import functools
from typing import Any, Callable

from . import te
from .errors import UsageError
from .relax import _operators, expr


def _computing(operator: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(operator)
    def computed(*arguments: Any, **named: Any) -> Any:
        pairs: list[tuple[Any, te.Tensor]] = []

        def as_var(value: Any) -> Any:
            if isinstance(value, te.Tensor):
                pairs.append((expr.Var(value.name, expr.TensorType(value.shape, value.dtype)), value))
                return pairs[-1][0]
            return type(value)(map(as_var, value)) if isinstance(value, (list, tuple)) else value

        call = operator(*map(as_var, arguments), **{name: as_var(value) for name, value in named.items()})
        if not pairs:
            raise UsageError(f"topi.{operator.__qualname__} takes tensors of deuteron.te")
        return te.computation_of(call, pairs)

    return computed


def _as_functions(group: Any) -> Any:
    made = _operators._Group(group.__name__)
    for name in dir(group):
        value = getattr(group, name)
        setattr(made, name, _computing(value) if callable(value) else _as_functions(value))
    return made


_FUNCTIONS = {
    name: _computing(value) if callable(value) else _as_functions(value) for name, value in _operators.functions().items()
}
globals().update(_FUNCTIONS)


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"there is no operator {name}")
