/// \file
/// Graph-level expressions (Relax), in A-normal form.
///
/// A function's body is a SeqExpr: a list of binding blocks and a result. Every argument of a call is a leaf
/// (a variable, constant, tuple of leaves, shape, scalar, string, global variable). Bindings of a
/// DataflowBlock are pure and bind DataflowVars, visible in the block only, and Vars, its outputs. Order of
/// evaluation is the order of bindings. A value is never modified, except by calls that say so
/// (`call_tir_inplace`); what is needed besides is copied before (CallTIRRewrite).
#pragma once

#include "deuteron/ir/module.h"
#include "deuteron/ir/op.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/ir/type.h"

namespace deuteron::relax {

using Expr = RelaxExpr;
using ExprNode = RelaxExprNode;

/// A variable. Compared by identity.
class VarNode : public ExprNode {
 public:
  VarNode() : ExprNode(RelaxKind::kVar) {}
  String name_hint;
  static constexpr uint32_t _type_child_slots = 1;
  static void RegisterReflection();
  DEUTERON_VAR_NODE
  DEUTERON_BASE_NODE("deuteron.relax.Var", VarNode, ExprNode);

 protected:
  using ExprNode::ExprNode;
};
class Var : public Expr {
 public:
  Var(String name_hint, Type ty, Span span = Span());
  DEUTERON_REF(Var, Expr, VarNode);
};

/// A variable that is visible only in its DataflowBlock.
class DataflowVarNode : public VarNode {
 public:
  DataflowVarNode() : VarNode(RelaxKind::kDataflowVar) {}
  DEUTERON_NODE("deuteron.relax.DataflowVar", DataflowVarNode, VarNode);
};
class DataflowVar : public Var {
 public:
  DataflowVar(String name_hint, Type ty, Span span = Span());
  DEUTERON_REF(DataflowVar, Var, DataflowVarNode);
};

/// A tensor on the CPU, contiguous. Never modified.
class ConstantNode : public ExprNode {
 public:
  ConstantNode() : ExprNode(RelaxKind::kConstant) {}
  Tensor data = Tensor(ffi::UnsafeInit());
  bool is_scalar() const { return data.ndim() == 0; }
  DEUTERON_NODE("deuteron.relax.Constant", ConstantNode, ExprNode);
};
class Constant : public Expr {
 public:
  explicit Constant(Tensor data, Span span = Span());
  /// A tensor of rank 0.
  static Constant Scalar(DataType dtype, double value);
  static Constant Scalar(DataType dtype, int64_t value);
  DEUTERON_REF(Constant, Expr, ConstantNode);
};

class TupleNode : public ExprNode {
 public:
  TupleNode() : ExprNode(RelaxKind::kTuple) {}
  Array<Expr> fields = kEmpty;
  DEUTERON_NODE("deuteron.relax.Tuple", TupleNode, ExprNode);
};
class Tuple : public Expr {
 public:
  explicit Tuple(Array<Expr> fields, Span span = Span());
  /// With the type that the fields make up, where it is there already: tuples of large graphs share theirs.
  Tuple(Array<Expr> fields, Type type, Span span);
  DEUTERON_REF(Tuple, Expr, TupleNode);
};

class TupleGetItemNode : public ExprNode {
 public:
  TupleGetItemNode() : ExprNode(RelaxKind::kTupleGetItem) {}
  Expr tuple;
  int64_t index = 0;
  DEUTERON_NODE("deuteron.relax.TupleGetItem", TupleGetItemNode, ExprNode);
};
class TupleGetItem : public Expr {
 public:
  TupleGetItem(Expr tuple, int64_t index, Span span = Span());
  DEUTERON_REF(TupleGetItem, Expr, TupleGetItemNode);
};

/// `op` (an Op, GlobalVar, Var or ExternFunc) applied to `args`.
class CallNode : public ExprNode {
 public:
  CallNode() : ExprNode(RelaxKind::kCall) {}
  Expr op;
  Array<Expr> args = kEmpty;
  /// Null for calls without attributes.
  Attrs attrs;
  /// Types as arguments: the result types of call_tir, call_packed, …
  Array<Type> ty_args = kEmpty;
  DEUTERON_NODE("deuteron.relax.Call", CallNode, ExprNode);
};
class Call : public Expr {
 public:
  Call(Expr op, Array<Expr> args, Attrs attrs = Attrs(), Array<Type> ty_args = kEmpty, Span span = Span());
  DEUTERON_REF(Call, Expr, CallNode);
};

/// A shape as a value: R.shape([n, 4]).
class ShapeExprNode : public ExprNode {
 public:
  ShapeExprNode() : ExprNode(RelaxKind::kShapeExpr) {}
  Array<PrimExpr> values = kEmpty;
  DEUTERON_NODE("deuteron.relax.ShapeExpr", ShapeExprNode, ExprNode);
};
class ShapeExpr : public Expr {
 public:
  explicit ShapeExpr(Array<PrimExpr> values, Span span = Span());
  DEUTERON_REF(ShapeExpr, Expr, ShapeExprNode);
};

/// A scalar expression as a value.
class PrimValueNode : public ExprNode {
 public:
  PrimValueNode() : ExprNode(RelaxKind::kPrimValue) {}
  PrimExpr value;
  DEUTERON_NODE("deuteron.relax.PrimValue", PrimValueNode, ExprNode);
};
class PrimValue : public Expr {
 public:
  explicit PrimValue(PrimExpr value, Span span = Span());
  static PrimValue Int64(int64_t value);
  DEUTERON_REF(PrimValue, Expr, PrimValueNode);
};

class StringImmNode : public ExprNode {
 public:
  StringImmNode() : ExprNode(RelaxKind::kStringImm) {}
  String value;
  DEUTERON_NODE("deuteron.relax.StringImm", StringImmNode, ExprNode);
};
class StringImm : public Expr {
 public:
  explicit StringImm(String value, Span span = Span());
  DEUTERON_REF(StringImm, Expr, StringImmNode);
};

class DataTypeImmNode : public ExprNode {
 public:
  DataTypeImmNode() : ExprNode(RelaxKind::kDataTypeImm) {}
  DataType value;
  DEUTERON_NODE("deuteron.relax.DataTypeImm", DataTypeImmNode, ExprNode);
};
class DataTypeImm : public Expr {
 public:
  explicit DataTypeImm(DataType value, Span span = Span());
  DEUTERON_REF(DataTypeImm, Expr, DataTypeImmNode);
};

/// Base of bindings: `var` gets a value.
class BindingNode : public Object {
 public:
  Var var;
  Span span;
  DEUTERON_TREE_NODE
  DEUTERON_BASE_NODE("deuteron.relax.Binding", BindingNode, Object);
};
class Binding : public ObjectRef {
 public:
  DEUTERON_REF(Binding, ObjectRef, BindingNode);
};

/// `var = value`
class VarBindingNode : public BindingNode {
 public:
  Expr value;
  DEUTERON_NODE("deuteron.relax.VarBinding", VarBindingNode, BindingNode);
};
class VarBinding : public Binding {
 public:
  VarBinding(Var var, Expr value, Span span = Span());
  DEUTERON_REF(VarBinding, Binding, VarBindingNode);
};

/// `var = R.match_cast(value, ty)`: checks at run time that `value` is of type `ty` and binds the symbolic
/// variables that occur in `ty` for the first time.
class MatchCastNode : public BindingNode {
 public:
  Expr value;
  Type ty;
  DEUTERON_NODE("deuteron.relax.MatchCast", MatchCastNode, BindingNode);
};
class MatchCast : public Binding {
 public:
  MatchCast(Var var, Expr value, Type ty, Span span = Span());
  DEUTERON_REF(MatchCast, Binding, MatchCastNode);
};

class BindingBlockNode : public Object {
 public:
  Array<Binding> bindings = kEmpty;
  DEUTERON_TREE_NODE
  static void RegisterReflection();
  DEUTERON_BASE_NODE("deuteron.relax.BindingBlock", BindingBlockNode, Object);
};
class BindingBlock : public ObjectRef {
 public:
  explicit BindingBlock(Array<Binding> bindings);
  DEUTERON_REF(BindingBlock, ObjectRef, BindingBlockNode);
};

class DataflowBlockNode : public BindingBlockNode {
 public:
  DEUTERON_NODE("deuteron.relax.DataflowBlock", DataflowBlockNode, BindingBlockNode);
};
class DataflowBlock : public BindingBlock {
 public:
  explicit DataflowBlock(Array<Binding> bindings);
  DEUTERON_REF(DataflowBlock, BindingBlock, DataflowBlockNode);
};

class SeqExprNode : public ExprNode {
 public:
  SeqExprNode() : ExprNode(RelaxKind::kSeqExpr) {}
  Array<BindingBlock> blocks = kEmpty;
  Expr body;
  DEUTERON_NODE("deuteron.relax.SeqExpr", SeqExprNode, ExprNode);
};
class SeqExpr : public Expr {
 public:
  SeqExpr(Array<BindingBlock> blocks, Expr body, Span span = Span());
  DEUTERON_REF(SeqExpr, Expr, SeqExprNode);
};

/// Runs one branch. `cond` is a scalar boolean tensor or scalar.
class IfNode : public ExprNode {
 public:
  IfNode() : ExprNode(RelaxKind::kIf) {}
  Expr cond;
  SeqExpr true_branch;
  SeqExpr false_branch;
  DEUTERON_NODE("deuteron.relax.If", IfNode, ExprNode);
};
class If : public Expr {
 public:
  If(Expr cond, SeqExpr true_branch, SeqExpr false_branch, Span span = Span());
  DEUTERON_REF(If, Expr, IfNode);
};

class FunctionNode : public BaseFuncNode {
 public:
  FunctionNode() : BaseFuncNode(RelaxKind::kFunction) {}
  Array<Var> params = kEmpty;
  SeqExpr body;
  Type ret_ty;
  bool is_pure = true;
  DEUTERON_NODE("deuteron.relax.Function", FunctionNode, BaseFuncNode);
};
class Function : public BaseFunc {
 public:
  Function(Array<Var> params, SeqExpr body, Type ret_ty, bool is_pure = true, DictAttrs attrs = DictAttrs(),
           Span span = Span());
  DEUTERON_REF(Function, BaseFunc, FunctionNode);
};

/// A function outside of the module, found by name at run time.
class ExternFuncNode : public BaseFuncNode {
 public:
  ExternFuncNode() : BaseFuncNode(RelaxKind::kExternFunc) {}
  String global_symbol;
  DEUTERON_NODE("deuteron.relax.ExternFunc", ExternFuncNode, BaseFuncNode);
};
class ExternFunc : public BaseFunc {
 public:
  explicit ExternFunc(String global_symbol, Type ty = Type(), Span span = Span());
  DEUTERON_REF(ExternFunc, BaseFunc, ExternFuncNode);
};

/// Whether `expr` may be an argument of a call in A-normal form.
bool IsLeaf(const Expr& expr);

}  // namespace deuteron::relax

namespace std {
template <>
struct hash<deuteron::relax::Var> {
  size_t operator()(const deuteron::relax::Var& var) const { return hash<const void*>()(var.get()); }
};
}  // namespace std
