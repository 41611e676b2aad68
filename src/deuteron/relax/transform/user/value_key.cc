#include "deuteron/relax/transform/user/value_key.h"

#include <string_view>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/structure_hash.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

size_t Mix(size_t hash, size_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 9); }

size_t HashText(const String& text) { return std::hash<std::string_view>()({text.data(), text.size()}); }

std::string_view Bytes(const Tensor& tensor) {
  size_t count = 1;
  for (const int64_t extent : tensor.shape()) count *= static_cast<size_t>(extent);
  return {static_cast<const char*>(tensor.data_ptr()), count * static_cast<size_t>(DataType(tensor.dtype()).bytes())};
}

bool SameTensor(const Tensor& a, const Tensor& b) {
  if (a.same_as(b)) return true;
  if (DataType(a.dtype()) != DataType(b.dtype()) || a.ndim() != b.ndim()) return false;
  for (int i = 0; i < a.ndim(); ++i) {
    if (a.shape()[i] != b.shape()[i]) return false;
  }
  return Bytes(a) == Bytes(b);
}

bool SameValues(const Array<Expr>& a, const Array<Expr>& b) {
  if (a.same_as(b)) return true;
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameValue(a[i], b[i])) return false;
  }
  return true;
}

bool SameCall(const CallNode* a, const CallNode* b) {
  if (!SameValue(a->op, b->op) || !SameValues(a->args, b->args) || a->ty_args.size() != b->ty_args.size()) return false;
  for (size_t i = 0; i < a->ty_args.size(); ++i) {
    if (!TypesIdentical(a->ty_args[i], b->ty_args[i])) return false;
  }
  if (a->attrs.same_as(b->attrs)) return true;
  return a->attrs.defined() && b->attrs.defined() && StructurallyEqual(a->attrs, b->attrs);
}

size_t HashCall(const CallNode* call) {
  size_t hash = ValueHash(call->op);
  for (const Expr& arg : call->args) hash = Mix(hash, ValueHash(arg));
  for (const Type& type : call->ty_args) hash = Mix(hash, TypeHash(type));
  return call->attrs.defined() ? Mix(hash, static_cast<size_t>(StructuralHash::Hash(call->attrs))) : hash;
}

/// Enough to tell most bodies apart; names of what they bind take no part.
size_t HashBody(const SeqExpr& seq) {
  size_t hash = seq->blocks.size();
  for (const BindingBlock& block : seq->blocks) hash = Mix(hash, block->bindings.size());
  return hash;
}

}  // namespace

bool SameValue(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
    case RelaxKind::kGlobalVar:
    case RelaxKind::kOp:
    case RelaxKind::kPrimFunc:
      return false;
    case RelaxKind::kConstant:
      return SameTensor(a.as<ConstantNode>()->data, b.as<ConstantNode>()->data);
    case RelaxKind::kShapeExpr:
      return ExprEqual(a.as<ShapeExprNode>()->values, b.as<ShapeExprNode>()->values);
    case RelaxKind::kPrimValue:
      return ExprEqual(a.as<PrimValueNode>()->value, b.as<PrimValueNode>()->value);
    case RelaxKind::kStringImm:
      return a.as<StringImmNode>()->value == b.as<StringImmNode>()->value;
    case RelaxKind::kDataTypeImm:
      return a.as<DataTypeImmNode>()->value == b.as<DataTypeImmNode>()->value;
    case RelaxKind::kExternFunc:
      return a.as<ExternFuncNode>()->global_symbol == b.as<ExternFuncNode>()->global_symbol;
    case RelaxKind::kTuple:
      return SameValues(a.as<TupleNode>()->fields, b.as<TupleNode>()->fields);
    case RelaxKind::kTupleGetItem:
      return a.as<TupleGetItemNode>()->index == b.as<TupleGetItemNode>()->index &&
             SameValue(a.as<TupleGetItemNode>()->tuple, b.as<TupleGetItemNode>()->tuple);
    case RelaxKind::kCall:
      return SameCall(a.as<CallNode>(), b.as<CallNode>());
    case RelaxKind::kSeqExpr:
    case RelaxKind::kIf:
    case RelaxKind::kFunction:
      return StructurallyEqual(a, b);
  }
  DEUTERON_UNREACHABLE();
}

size_t ValueHash(const Expr& expr) {
  const auto kind = static_cast<size_t>(expr->kind);
  switch (expr->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
    case RelaxKind::kGlobalVar:
    case RelaxKind::kOp:
    case RelaxKind::kPrimFunc:
      return std::hash<const void*>()(expr.get());
    case RelaxKind::kConstant:
      return Mix(kind, DataHash(expr.as<ConstantNode>()->data));
    case RelaxKind::kShapeExpr: {
      size_t hash = kind;
      for (const PrimExpr& value : expr.as<ShapeExprNode>()->values) hash = Mix(hash, ExprHash(value));
      return hash;
    }
    case RelaxKind::kPrimValue:
      return Mix(kind, ExprHash(expr.as<PrimValueNode>()->value));
    case RelaxKind::kStringImm:
      return Mix(kind, HashText(expr.as<StringImmNode>()->value));
    case RelaxKind::kDataTypeImm:
      return Mix(kind, static_cast<size_t>(expr.as<DataTypeImmNode>()->value.bits()));
    case RelaxKind::kExternFunc:
      return Mix(kind, HashText(expr.as<ExternFuncNode>()->global_symbol));
    case RelaxKind::kTuple: {
      size_t hash = kind;
      for (const Expr& field : expr.as<TupleNode>()->fields) hash = Mix(hash, ValueHash(field));
      return hash;
    }
    case RelaxKind::kTupleGetItem:
      return Mix(Mix(kind, static_cast<size_t>(expr.as<TupleGetItemNode>()->index)),
                 ValueHash(expr.as<TupleGetItemNode>()->tuple));
    case RelaxKind::kCall:
      return HashCall(expr.as<CallNode>());
    case RelaxKind::kSeqExpr:
      return Mix(kind, HashBody(Downcast<SeqExpr>(expr)));
    case RelaxKind::kIf: {
      const auto* branch = expr.as<IfNode>();
      return Mix(Mix(ValueHash(branch->cond), HashBody(branch->true_branch)), HashBody(branch->false_branch));
    }
    case RelaxKind::kFunction:
      return Mix(HashBody(expr.as<FunctionNode>()->body), expr.as<FunctionNode>()->params.size());
  }
  DEUTERON_UNREACHABLE();
}

}  // namespace deuteron::relax
