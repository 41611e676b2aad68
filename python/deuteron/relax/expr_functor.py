"""Visitors and mutators of graph-level expressions, dispatched by kind of node.

    @mutator
    class ReplaceExp(PyExprMutator):
        def visit_call_(self, call):
            call = super().visit_call_(call)
            return op.tanh(call.args[0]) if call.op.name == "relax.exp" else call

A class overrides `visit_<node>_` for the nodes of interest. Recursion goes only as deep as branches and local functions nest.
"""

from __future__ import annotations

from typing import Any, Sequence

from .. import ir
from ..errors import UsageError
from ..ir import Expr, IRModule
from .block_builder import BlockBuilder, _call
from .expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    DataTypeImm,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)

_METHODS = {
    Var: "visit_var_",
    DataflowVar: "visit_dataflow_var_",
    GlobalVar: "visit_global_var_",
    Constant: "visit_constant_",
    Tuple: "visit_tuple_",
    TupleGetItem: "visit_tuple_getitem_",
    Call: "visit_call_",
    ShapeExpr: "visit_shape_expr_",
    PrimValue: "visit_prim_value_",
    StringImm: "visit_string_imm_",
    DataTypeImm: "visit_data_type_imm_",
    SeqExpr: "visit_seq_expr_",
    If: "visit_if_",
    Function: "visit_function_",
    ExternFunc: "visit_extern_func_",
    Op: "visit_op_",
}


class _Dispatch:
    def _dispatch(self, expr: Expr) -> Any:
        name = _METHODS.get(type(expr))
        if name is None:
            raise UsageError(f"a {type(expr).__name__} is no expression of the graph level")
        return getattr(self, name)(expr)

    def _dispatch_binding(self, binding: Binding) -> None:
        if isinstance(binding, MatchCast):
            self.visit_match_cast_(binding)  # type: ignore[attr-defined]
        else:
            self.visit_var_binding_(binding)  # type: ignore[attr-defined]

    def _dispatch_block(self, block: BindingBlock) -> Any:
        if isinstance(block, DataflowBlock):
            return self.visit_dataflow_block_(block)  # type: ignore[attr-defined]
        return self.visit_binding_block_(block)  # type: ignore[attr-defined]


class PyExprVisitor(_Dispatch):
    """Visits expressions, bindings and blocks in order of evaluation. A use of a variable is `visit_var_`, its definition
    `visit_var_def`."""

    def visit_expr(self, expr: Expr) -> None:
        """Any expression: by its kind."""
        self._dispatch(expr)

    def visit_binding(self, binding: Binding) -> None:
        """Any binding: by its kind."""
        self._dispatch_binding(binding)

    def visit_binding_block(self, block: BindingBlock) -> None:
        """Any block: by its kind."""
        self._dispatch_block(block)

    def visit_var_def(self, var: Var) -> None:
        """A variable where it is bound, or a parameter."""

    def _leaf(self, expr: Expr) -> None:
        """Has no parts."""

    visit_var_ = visit_dataflow_var_ = visit_global_var_ = visit_constant_ = visit_shape_expr_ = _leaf
    visit_prim_value_ = visit_string_imm_ = visit_data_type_imm_ = visit_extern_func_ = visit_op_ = _leaf

    def visit_tuple_(self, expr: Tuple) -> None:
        """The fields."""
        for field in expr.fields:
            self.visit_expr(field)

    def visit_tuple_getitem_(self, expr: TupleGetItem) -> None:
        """The tuple."""
        self.visit_expr(expr.tuple)

    def visit_call_(self, call: Call) -> None:
        """What is called, then the arguments."""
        self.visit_expr(call.op)
        for argument in call.args:
            self.visit_expr(argument)

    def visit_seq_expr_(self, expr: SeqExpr) -> None:
        """The blocks, then the result."""
        for block in expr.blocks:
            self.visit_binding_block(block)
        self.visit_expr(expr.body)

    def visit_if_(self, expr: If) -> None:
        """The condition, then both branches."""
        for part in (expr.cond, expr.true_branch, expr.false_branch):
            self.visit_expr(part)

    def visit_function_(self, function: Function) -> None:
        """The parameters, then the body."""
        for param in function.params:
            self.visit_var_def(param)
        self.visit_expr(function.body)

    def visit_binding_block_(self, block: BindingBlock) -> None:
        """The bindings."""
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_dataflow_block_(self, block: DataflowBlock) -> None:
        """The bindings."""
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_var_binding_(self, binding: VarBinding) -> None:
        """The value, then the variable."""
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    def visit_match_cast_(self, binding: MatchCast) -> None:
        """The value, then the variable."""
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)


class PyExprMutator(_Dispatch):
    """Rewrites expressions: what a visit returns is normalised and bound by `builder_`, and later uses of a variable whose type
    changed refer to a new one. What does not change stays the same object. Functions that are added go to a copy of `mod`:
    `builder_.get()`."""

    def __init__(self, mod: IRModule | None = None) -> None:
        self.builder_ = BlockBuilder(mod)
        self._remap: dict[Var, Expr] = {}

    def visit_expr(self, expr: Expr) -> Expr:
        """Any expression: by its kind."""
        return self._dispatch(expr)

    def visit_binding(self, binding: Binding) -> None:
        """Any binding: by its kind."""
        self._dispatch_binding(binding)

    def visit_binding_block(self, block: BindingBlock) -> BindingBlock:
        """Any block: by its kind."""
        return self._dispatch_block(block)

    def lookup_binding(self, var: Expr) -> Expr | None:
        """What is bound to a variable; None if it is not known, as of a parameter, or if `var` is none (a constant)."""
        return self.builder_.lookup_binding(var) if isinstance(var, Var) else None

    def set_var_remap(self, var: Var, value: Expr) -> None:
        """Later uses of `var` become `value`."""
        self._remap[var] = value

    def get_var_remap(self, var: Var) -> Expr:
        """What `var` stands for now."""
        return self._remap.get(var, var)

    def visit_var_(self, var: Var) -> Expr:
        """What the variable stands for now."""
        return self.get_var_remap(var)

    visit_dataflow_var_ = visit_var_

    def _leaf(self, expr: Expr) -> Expr:
        """Has no parts: as it is."""
        return expr

    visit_global_var_ = visit_constant_ = visit_shape_expr_ = visit_prim_value_ = _leaf
    visit_string_imm_ = visit_data_type_imm_ = visit_extern_func_ = visit_op_ = _leaf

    def visit_tuple_(self, expr: Tuple) -> Expr:
        """A tuple of the visited fields."""
        fields = self._all(expr.fields)
        return expr if _same(fields, expr.fields) else Tuple(fields)

    def visit_tuple_getitem_(self, expr: TupleGetItem) -> Expr:
        """The field of the visited tuple."""
        value = self.visit_expr(expr.tuple)
        return expr if value.same_as(expr.tuple) else TupleGetItem(value, expr.index)

    def visit_call_(self, call: Call) -> Expr:
        """The call of what is visited."""
        return self.visit_expr_post_order(call)

    def visit_expr_post_order(self, expr: Call) -> Call:
        """The call with callee and arguments visited."""
        callee, arguments = self.visit_expr(expr.op), self._all(expr.args)
        same = callee.same_as(expr.op) and _same(arguments, expr.args)
        return expr if same else Call(callee, arguments, expr.attrs, expr.ty_args)

    def visit_seq_expr_(self, expr: SeqExpr) -> Expr:
        """The visited blocks; what the result needs besides is bound in one more."""
        blocks = [self.visit_binding_block(block) for block in expr.blocks]
        _call("begin_binding_block", self.builder_._builder)
        body = _call("leaf", self.builder_._builder, self.visit_expr(expr.body))
        last = _call("end_block", self.builder_._builder)
        if _same(blocks, expr.blocks) and body.same_as(expr.body) and not last.bindings:
            return expr
        return SeqExpr([*blocks, last] if last.bindings else blocks, body)

    def visit_if_(self, expr: If) -> Expr:
        """Both branches in scopes of their own."""
        cond = self.visit_expr(expr.cond)
        branches = [self._scope(branch, []) for branch in (expr.true_branch, expr.false_branch)]
        same = cond.same_as(expr.cond) and _same(branches, [expr.true_branch, expr.false_branch])
        return expr if same else If(cond, *branches)

    def visit_function_(self, function: Function) -> Expr:
        """The function with its body visited; the type of its result is that of the new body."""
        body = self._scope(function.body, function.params)
        if body.same_as(function.body):
            return function
        attrs = {} if function.attrs is None else dict(function.attrs.dict)
        return _call("function", function.params, body, function.is_pure, attrs)

    def visit_binding_block_(self, block: BindingBlock) -> BindingBlock:
        """A block of what visits of the bindings emit."""
        return self._block(block, "begin_binding_block")

    def visit_dataflow_block_(self, block: DataflowBlock) -> BindingBlock:
        """A block of what visits of the bindings emit."""
        return self._block(block, "begin_dataflow_block")

    def visit_var_binding_(self, binding: VarBinding) -> None:
        """Emits the visited value, under the same variable if its type is the same."""
        value = self.visit_expr(binding.value)
        if value.same_as(binding.value):
            self.builder_.emit_normalized(binding)
            return
        value = self.builder_.normalize(value)
        var = binding.var
        if value.ty is not None and not (var.ty is not None and ir.structural_equal(value.ty, var.ty, map_free_vars=False)):
            var = type(var)(var.name_hint, value.ty)
            self.set_var_remap(binding.var, var)
        self.builder_.emit_normalized(VarBinding(var, value))

    def visit_match_cast_(self, binding: MatchCast) -> None:
        """Emits the cast of the visited value."""
        value = self.visit_expr(binding.value)
        same = value.same_as(binding.value)
        self.builder_.emit_normalized(binding if same else MatchCast(binding.var, self.builder_.normalize(value), binding.ty))

    def _all(self, exprs: Sequence[Expr]) -> list[Expr]:
        return [self.visit_expr(expr) for expr in exprs]

    def _scope(self, body: SeqExpr, params: Sequence[Var]) -> Any:
        _call("begin_scope", self.builder_._builder, list(params))
        try:
            return self.visit_expr(body)
        finally:
            _call("end_scope", self.builder_._builder)

    def _block(self, block: BindingBlock, begin: str) -> BindingBlock:
        _call(begin, self.builder_._builder)
        try:
            for binding in block.bindings:
                self.visit_binding(binding)
        finally:
            rebuilt = _call("end_block", self.builder_._builder)
        return block if _same(rebuilt.bindings, block.bindings) else rebuilt


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(x.same_as(y) for x, y in zip(a, b))


def visitor(cls: type) -> type:
    """Marks a class as a visitor; a UsageError if it does not derive from PyExprVisitor."""
    return _marked(cls, PyExprVisitor)


def mutator(cls: type) -> type:
    """Marks a class as a mutator; a UsageError if it does not derive from PyExprMutator."""
    return _marked(cls, PyExprMutator)


def _marked(cls: type, base: type) -> type:
    if not issubclass(cls, base):
        raise UsageError(f"{cls.__name__} does not derive from {base.__name__}")
    return cls
