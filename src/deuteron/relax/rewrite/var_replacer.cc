#include "deuteron/relax/rewrite/var_replacer.h"

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

Type VarReplacer::Replace(const Type& type) {
  if (symbols_.empty() || !type.defined()) return type;
  return SubstituteType(type, symbols_);
}
PrimExpr VarReplacer::Replace(const PrimExpr& expr) { return symbols_.empty() ? expr : Substitute(expr, symbols_); }
Array<Expr> VarReplacer::Replace(const Array<Expr>& exprs) {
  return exprs.Map([this](const Expr& expr) { return Replace(expr); });
}

Expr VarReplacer::Replace(const Expr& expr) {
  if (auto it = values_.find(expr.get()); it != values_.end()) return it->second;
  if (empty() && !visits_calls_) return expr;
  Expr result = ReplaceNode(expr);
  if (!result.same_as(expr)) {
    if (!result->span.defined()) result->span = expr->span;
    if (!result.ty().defined()) result->ty = Replace(expr.ty());
  }
  if (!visits_calls_ || result->kind != RelaxKind::kCall) return result;
  return VisitCall(Downcast<Call>(result));
}

Expr VarReplacer::ReplaceNode(const Expr& expr) {
  switch (expr->kind) {
    case RelaxKind::kTuple: {
      const auto* tuple = static_cast<const TupleNode*>(expr.get());
      auto fields = Replace(tuple->fields);
      return fields.same_as(tuple->fields) ? expr : Expr(Tuple(std::move(fields)));
    }
    case RelaxKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItemNode*>(expr.get());
      const Expr tuple = Replace(item->tuple);
      return tuple.same_as(item->tuple) ? expr : Expr(TupleGetItem(tuple, item->index));
    }
    case RelaxKind::kCall: {
      const auto* call = static_cast<const CallNode*>(expr.get());
      const Expr op = Replace(call->op);
      auto args = Replace(call->args);
      auto types = call->ty_args.Map([this](const Type& type) { return Replace(type); });
      if (op.same_as(call->op) && args.same_as(call->args) && types.same_as(call->ty_args)) return expr;
      return Call(op, std::move(args), call->attrs, std::move(types));
    }
    case RelaxKind::kShapeExpr: {
      const auto* shape = static_cast<const ShapeExprNode*>(expr.get());
      auto values = shape->values.Map([this](const PrimExpr& value) { return Replace(value); });
      return values.same_as(shape->values) ? expr : Expr(ShapeExpr(std::move(values)));
    }
    case RelaxKind::kPrimValue: {
      const auto* scalar = static_cast<const PrimValueNode*>(expr.get());
      const PrimExpr value = Replace(scalar->value);
      return value.same_as(scalar->value) ? expr : Expr(PrimValue(value));
    }
    case RelaxKind::kSeqExpr:
      return Replace(Downcast<SeqExpr>(expr));
    case RelaxKind::kIf: {
      const auto* branch = static_cast<const IfNode*>(expr.get());
      const Expr cond = Replace(branch->cond);
      const SeqExpr true_branch = Replace(branch->true_branch);
      const SeqExpr false_branch = Replace(branch->false_branch);
      if (cond.same_as(branch->cond) && true_branch.same_as(branch->true_branch) &&
          false_branch.same_as(branch->false_branch)) {
        return expr;
      }
      return If(cond, true_branch, false_branch);
    }
    case RelaxKind::kFunction:
      return Replace(Downcast<Function>(expr));
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
    case RelaxKind::kGlobalVar:
    case RelaxKind::kConstant:
    case RelaxKind::kStringImm:
    case RelaxKind::kDataTypeImm:
    case RelaxKind::kExternFunc:
    case RelaxKind::kPrimFunc:
    case RelaxKind::kOp:
      return expr;
  }
  DEUTERON_UNREACHABLE();
}

Var VarReplacer::ReplaceDef(const Var& var) {
  const Type type = Replace(var.ty());
  if (type.same_as(var.ty()) || (type.defined() && TypesIdentical(type, var.ty()))) return var;
  const Var renewed = var->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(var->name_hint, type, var->span))
                                                           : Var(var->name_hint, type, var->span);
  Set(var, renewed);
  return renewed;
}

Binding VarReplacer::Replace(const Binding& binding) {
  const Expr& old_value = BoundValue(binding);
  const Expr value = Replace(old_value);
  const auto* cast = binding.as<MatchCastNode>();
  const Type cast_type = cast ? Replace(cast->ty) : Type();
  const Var var = ReplaceDef(binding->var);
  if (value.same_as(old_value) && var.same_as(binding->var) && (!cast || cast_type.same_as(cast->ty))) {
    return binding;
  }
  if (cast) return MatchCast(var, value, cast_type, binding->span);
  return VarBinding(var, value, binding->span);
}

BindingBlock VarReplacer::Replace(const BindingBlock& block) {
  auto bindings = block->bindings.Map([this](const Binding& binding) { return Replace(binding); });
  return bindings.same_as(block->bindings) ? block : WithBindings(block, std::move(bindings));
}

SeqExpr VarReplacer::Replace(const SeqExpr& seq) {
  auto blocks = seq->blocks.Map([this](const BindingBlock& block) { return Replace(block); });
  const Expr body = Replace(seq->body);
  if (blocks.same_as(seq->blocks) && body.same_as(seq->body)) return seq;
  return SeqExpr(std::move(blocks), body, seq->span);
}

Function VarReplacer::Replace(const Function& function) {
  auto params = function->params.Map([this](const Var& param) { return ReplaceDef(param); });
  const SeqExpr body = Replace(function->body);
  const Type ret = Replace(function->ret_ty);
  if (params.same_as(function->params) && body.same_as(function->body) && ret.same_as(function->ret_ty)) {
    return function;
  }
  return Function(std::move(params), body, ret, function->is_pure, function->attrs, function->span);
}

void BindSymbols(const Type& pattern, const Type& type, VarReplacer* values) {
  if (!type.defined() || pattern->kind != type->kind) return;
  const auto bind = [values](const Optional<Array<PrimExpr>>& names, const Optional<Array<PrimExpr>>& dims) {
    if (!names.has_value() || !dims.has_value() || names.value().size() != dims.value().size()) return;
    for (size_t i = 0; i < dims.value().size(); ++i) {
      const auto symbol = As<tir::Var>(names.value()[i]);
      if (symbol.defined() && !values->Has(symbol)) values->SetSymbol(symbol, dims.value()[i]);
    }
  };
  if (const auto* tensor = pattern.as<TensorTypeNode>()) {
    bind(tensor->shape, type.as<TensorTypeNode>()->shape);
  } else if (const auto* shape = pattern.as<ShapeTypeNode>()) {
    bind(shape->values, type.as<ShapeTypeNode>()->values);
  } else if (const auto* tuple = pattern.as<TupleTypeNode>()) {
    const auto& fields = type.as<TupleTypeNode>()->fields;
    for (size_t i = 0; i < tuple->fields.size() && i < fields.size(); ++i)
      BindSymbols(tuple->fields[i], fields[i], values);
  }
}

BindingBlock WithBindings(const BindingBlock& block, Array<Binding> bindings) {
  if (block->IsInstance<DataflowBlockNode>()) return DataflowBlock(std::move(bindings));
  return BindingBlock(std::move(bindings));
}

}  // namespace deuteron::relax
