"""Tensor expressions: tensors defined element by element, which become loops.

    A = te.placeholder((n, 32), "float32", "A")
    B = te.placeholder((32, 8), "float32", "B")
    k = te.reduce_axis((0, 32), "k")
    C = te.compute((n, 8), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    product = te.create_prim_func([A, B, C])

`relax.BlockBuilder.emit_te` and `call_te` make kernels of functions of such tensors; `deuteron.topi` has those of the operators.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import tvm_ffi

from . import _library
from .errors import UsageError
from .ir import Expr
from .tir import IterVar, PrimExpr


@tvm_ffi.register_object("deuteron.te.Tensor", init=False)
class Tensor(tvm_ffi.Object):
    """An input, or what is computed: `shape` and `dtype`. `A[i, j]`, or `A(i, j)`, is an element."""

    def __getitem__(self, indices: Any) -> PrimExpr:
        return _library.function("te.load")(self, list(indices) if isinstance(indices, tuple) else [indices])

    def __call__(self, *indices: Any) -> PrimExpr:
        return _library.function("te.load")(self, list(indices))

    @property
    def name(self) -> str:
        """Of its block and buffer."""
        return self.op.name

    @property
    def ndim(self) -> int:
        """Its rank."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"Tensor({self.name}: {self.dtype}[{', '.join(str(getattr(dim, 'value', dim)) for dim in self.shape)}])"


def placeholder(shape: Sequence[Any], dtype: str = "float32", name: str = "placeholder") -> Tensor:
    """An input. Dimensions are numbers or expressions."""
    return _library.function("te.placeholder")(list(shape), dtype, name)


def compute(shape: Sequence[Any], fcompute: Callable[..., Any], name: str = "compute") -> Any:
    """The tensor of `shape` whose element at i, j, … is `fcompute(i, j, …)`, an expression or a number; with a tuple of them, a list
    of as many tensors, computed together. A reduction (`sum`, …) is the whole expression of an element."""
    results = _library.calling("te.compute")(list(shape), _library.callback(_elements(fcompute)), name)
    return results[0] if len(results) == 1 else list(results)


def _elements(fcompute: Callable[..., Any]) -> Callable[..., Any]:
    def elements(axes: Sequence[PrimExpr]) -> list[Any]:
        result = fcompute(*axes)
        return list(result) if isinstance(result, (list, tuple, tvm_ffi.Array)) else [result]

    return elements


def reduce_axis(dom: Sequence[Any], name: str = "k") -> IterVar:
    """An axis to reduce over, of the range `dom`: (0, extent)."""
    begin, extent = dom
    if not (isinstance(begin, int) and begin == 0):
        raise UsageError(f"a reduction axis begins at 0, not {begin}; add the offset where it is used")
    return _library.function("te.reduce_axis")(extent, name)


def _reduce(kind: str, expr: Any, axis: Any) -> PrimExpr:
    return _library.function("te.reduce")(kind, expr, [axis] if isinstance(axis, IterVar) else list(axis))


def sum(expr: Any, axis: IterVar | Sequence[IterVar]) -> PrimExpr:  # noqa: A001
    """The sum over reduction axes."""
    return _reduce("sum", expr, axis)


def prod(expr: Any, axis: IterVar | Sequence[IterVar]) -> PrimExpr:
    """The product over reduction axes."""
    return _reduce("prod", expr, axis)


def max(expr: Any, axis: IterVar | Sequence[IterVar]) -> PrimExpr:  # noqa: A001
    """The greatest value over reduction axes. (Of two values: `tir.max`.)"""
    return _reduce("max", expr, axis)


def min(expr: Any, axis: IterVar | Sequence[IterVar]) -> PrimExpr:  # noqa: A001
    """The least value over reduction axes. (Of two values: `tir.min`.)"""
    return _reduce("min", expr, axis)


def create_prim_func(tensors: Sequence[Tensor]) -> Any:
    """The loop-level function whose parameters are `tensors`, inputs first, then what it computes."""
    return _library.function("te.create_prim_func")(list(tensors))


def computation_of(call: Expr, tensors: Sequence[tuple[Expr, Tensor]]) -> Any:
    """What the operator of a call computes: a tensor, or a list of them, of the tensors that stand for its variables. An
    UnsupportedError for operators that are no single computation of tensors."""
    results = _library.function("te.computation_of")(call, [var for var, _ in tensors], [tensor for _, tensor in tensors])
    return results[0] if len(results) == 1 else list(results)
