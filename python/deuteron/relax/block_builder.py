"""Builds functions binding by binding, with types inferred.

    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            a = bb.emit(op.exp(x))
            b = bb.emit_output(op.add(a, a))
        bb.emit_func_output(b)
    module = bb.get()
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Mapping, Sequence

import tvm_ffi

from .. import _library
from ..errors import UsageError
from ..ir import Expr, IRModule
from .expr import Binding, BindingBlock, Call, DataflowBlock, Function, GlobalVar, SeqExpr, Tuple, TupleGetItem, Type, Var, as_expr


def _call(name: str, *arguments: Any) -> Any:
    return _library.function("builder." + name)(*arguments)


class BlockBuilder:
    """Adds functions to a copy of `mod` (an empty module). What is emitted is checked and typed at once: a ModelError names the
    operator and both shapes or types."""

    def __init__(self, mod: IRModule | None = None) -> None:
        self._builder = _call("new", mod)
        self._blocks: list[BindingBlock] | None = None
        self._output: Expr | None = None

    @contextlib.contextmanager
    def function(
        self,
        name: str,
        params: Var | Sequence[Var] = (),
        attrs: Mapping[str, Any] | None = None,
        private: bool = False,
        pure: bool = True,
    ) -> Iterator[None]:
        """A function whose bindings are those emitted within; `emit_func_output` must be called once."""
        if self._blocks is not None:
            raise UsageError(f"function {name} is built inside another function")
        if any(var.name_hint == name for var in self.get().functions):
            raise UsageError(f"the module has a function {name} already")
        params = [params] if isinstance(params, Var) else list(params)
        self._blocks, self._output = [], None
        _call("begin_scope", self._builder, params)
        try:
            _call("begin_binding_block", self._builder)
            try:
                yield
            finally:
                self._end_block()
            if self._output is None:
                raise UsageError(f"function {name} has no output; call emit_func_output")
            named = dict(attrs or {}) if private else {**(attrs or {}), "global_symbol": name}
            built = _call("function", params, SeqExpr(self._blocks, self._output), pure, named)
            _call("add_function", self._builder, built, name)
        finally:
            self._blocks = None
            _call("end_scope", self._builder)

    @contextlib.contextmanager
    def dataflow(self) -> Iterator[None]:
        """A dataflow block of what is emitted within; what is used after it is emitted by `emit_output`."""
        if self._blocks is None:
            raise UsageError("a dataflow block outside of a function")
        if _call("in_dataflow_block", self._builder):
            raise UsageError("a dataflow block inside a dataflow block")
        self._end_block()
        _call("begin_dataflow_block", self._builder)
        try:
            yield
        finally:
            self._end_block()
            _call("begin_binding_block", self._builder)

    def _end_block(self) -> None:
        block = _call("end_block", self._builder)
        if block.bindings:
            self._blocks.append(block)  # type: ignore[union-attr]

    def emit(self, expr: Any, name_hint: str = "") -> Var:
        """Binds `expr` to a new variable. Calls in calls are bound first."""
        return _call("emit", self._builder, as_expr(expr), name_hint)

    def emit_output(self, expr: Any, name_hint: str = "") -> Var:
        """Binds `expr` in a dataflow block to a variable that is seen after it."""
        return _call("emit_output", self._builder, as_expr(expr), name_hint)

    def match_cast(self, value: Expr, ty: Type, name_hint: str = "") -> Var:
        """Binds `value` as one of type `ty`, which is checked at run time; symbols in `ty` are defined by it."""
        return _call("match_cast", self._builder, value, ty, name_hint)

    def emit_normalized(self, binding: Binding) -> None:
        """A binding as it is."""
        _call("emit_normalized", self._builder, binding)

    def emit_func_output(self, output: Any) -> None:
        """Ends the function with its result."""
        if self._blocks is None:
            raise UsageError("emit_func_output outside of a function")
        if _call("in_dataflow_block", self._builder):
            raise UsageError("emit_func_output inside a dataflow block")
        if self._output is not None:
            raise UsageError("a second emit_func_output")
        self._output = _call("leaf", self._builder, as_expr(output))

    def call_te(self, func: Callable[..., Any], *args: Any, primfunc_name_hint: str | None = None, **kwargs: Any) -> Call:
        """A call of the kernel that `func` computes: a function of tensors of `deuteron.te`, such as those of `deuteron.topi`. Each
        argument that is a tensor of the graph, also in lists, is one of `te` to it; others are given as they are. The kernel is added
        to the module under `primfunc_name_hint` or the function's name."""
        leaves: list[Expr] = []

        def collect(value: Any) -> None:
            if isinstance(value, Expr):
                leaves.append(value)
            elif isinstance(value, (list, tuple)):
                for item in value:
                    collect(item)

        collect([*args, *kwargs.values()])

        def computed(tensors: Sequence[Any]) -> list[Any]:
            waiting = iter(tensors)

            def given(value: Any) -> Any:
                if isinstance(value, Expr):
                    return next(waiting)
                return type(value)(map(given, value)) if isinstance(value, (list, tuple)) else value

            positional = [given(value) for value in args]
            result = func(*positional, **{name: given(value) for name, value in kwargs.items()})
            return list(result) if isinstance(result, (list, tuple, tvm_ffi.Array)) else [result]

        name = primfunc_name_hint or getattr(func, "__name__", "te").strip("<>")
        return _library.calling("builder.call_te")(self._builder, name, leaves, _library.callback(computed))

    def emit_te(self, func: Callable[..., Any], *args: Any, primfunc_name_hint: str | None = None, **kwargs: Any) -> Var:
        """`call_te`, bound to a new variable."""
        return self.emit(self.call_te(func, *args, primfunc_name_hint=primfunc_name_hint, **kwargs))

    def normalize(self, expr: Expr) -> Expr:
        """`expr` typed and with its calls in calls bound."""
        return _call("normalize", self._builder, expr)

    def lookup_binding(self, var: Var) -> Expr | None:
        """What is bound to a variable in the scopes that are open; None if it is not known."""
        return _call("lookup_binding", self._builder, var)

    def get_unique_name(self, prefix: str) -> str:
        """`prefix`, or it with a number, which no other variable is named."""
        return _call("unique_name", self._builder, prefix)

    def current_block_is_dataflow(self) -> bool:
        """Whether what is emitted now goes to a dataflow block."""
        return _call("in_dataflow_block", self._builder)

    def add_func(self, func: Any, name: str) -> GlobalVar:
        """Adds a function as `name`, or as `name1`, …; one that is there already is shared."""
        return _call("add_function", self._builder, func, name)

    def update_func(self, var: GlobalVar, func: Any) -> None:
        """Replaces a function."""
        _call("update_function", self._builder, var, func)

    def get(self) -> IRModule:
        """The module as built so far."""
        return _call("module", self._builder)

    finalize = get


def bind_all(params: Sequence[Var], body: Expr) -> SeqExpr:
    """`body`, calls in calls, as one dataflow block; the same object is bound once."""
    builder = _call("new", None)
    _call("begin_scope", builder, list(params))
    try:
        _call("begin_dataflow_block", builder)
        bound: dict[Expr, Expr] = {}
        stack = [body]
        while stack:
            expr = stack[-1]
            parts = _parts(expr)
            waiting = [part for part in parts if part not in bound]
            if expr in bound or waiting:
                stack = stack[:-1] if expr in bound else stack + waiting[::-1]
                continue
            stack.pop()
            rebuilt = _rebuild(expr, [bound[part] for part in parts])
            if expr.same_as(body):
                bound[expr] = _call("emit_output", builder, rebuilt, "")
            else:
                bound[expr] = _call("emit", builder, rebuilt, "") if isinstance(expr, (Call, TupleGetItem)) else rebuilt
        block = _call("end_block", builder)
    finally:
        _call("end_scope", builder)
    return SeqExpr([DataflowBlock(block.bindings)], bound[body])


def _parts(expr: Expr) -> list[Expr]:
    if isinstance(expr, Call):
        return list(expr.args)
    if isinstance(expr, Tuple):
        return list(expr.fields)
    return [expr.tuple] if isinstance(expr, TupleGetItem) else []


def _rebuild(expr: Expr, parts: list[Expr]) -> Expr:
    if isinstance(expr, Call):
        return Call(expr.op, parts, expr.attrs, expr.ty_args)
    if isinstance(expr, Tuple):
        return Tuple(parts)
    return TupleGetItem(parts[0], expr.index) if isinstance(expr, TupleGetItem) else expr
