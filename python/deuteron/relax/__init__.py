"""The graph level: its nodes, operators and builder, visitors and mutators, patterns, and passes under the names that TVM's documents
import them by."""

from . import analysis, backend, dpl, expr_functor, op, transform
from .block_builder import BlockBuilder
from .expr import (
    AnyType,
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    ExternFunc,
    FuncType,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimType,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    StringImm,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
    const,
    symbolic,
)
from .expr_functor import PyExprMutator, PyExprVisitor

__all__ = [
    "AnyType", "Binding", "BindingBlock", "BlockBuilder", "Call", "Constant", "DataTypeImm", "DataflowBlock", "DataflowVar", "ExternFunc",
    "FuncType", "Function", "GlobalVar", "If", "MatchCast", "Op", "PrimType", "PrimValue", "PyExprMutator", "PyExprVisitor", "SeqExpr",
    "ShapeExpr", "ShapeType", "StringImm", "TensorType", "Tuple", "TupleGetItem", "TupleType", "Type", "Var", "VarBinding", "backend",
    "analysis", "const", "dpl", "expr_functor", "op", "symbolic", "transform",
]  # fmt: skip
