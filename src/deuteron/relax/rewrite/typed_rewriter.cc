#include "deuteron/relax/rewrite/typed_rewriter.h"

#include <unordered_set>
#include <utility>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

Function TypedRewriter::RewriteFunction(const Function& function, const Array<Var>& params) {
  Array<Var> renewed = params.Map([this](const Var& param) { return replacer_.ReplaceDef(param); });
  builder_.BeginScope(renewed);
  const SeqExpr body = RewriteSeq(function->body);
  builder_.EndScope();
  Type ret = replacer_.Replace(function->ret_ty);
  if (!body.same_as(function->body) && body->body.ty().defined()) {
    std::unordered_set<const Object*> defined;
    for (const Var& param : renewed) {
      for (const tir::Var& symbol : SymbolicVars(param.ty())) defined.insert(symbol.get());
    }
    const Type inferred =
        EraseToWellDefined(body->body.ty(), [&](const tir::Var& symbol) { return defined.count(symbol.get()) != 0; });
    if (!TypesIdentical(inferred, function->ret_ty)) ret = inferred;
  }
  if (renewed.same_as(function->params) && body.same_as(function->body) && ret.same_as(function->ret_ty))
    return function;
  return Function(std::move(renewed), body, std::move(ret), function->is_pure, function->attrs, function->span);
}

BindingBlock TypedRewriter::RewriteBlock(const BindingBlock& block) {
  if (block->IsInstance<DataflowBlockNode>()) {
    builder_.BeginDataflowBlock();
  } else {
    builder_.BeginBindingBlock();
  }
  const BindingBlock rewritten = SeqRewriter::RewriteBlock(block);
  builder_.EndBlock();
  return rewritten;
}

void TypedRewriter::RewriteBinding(const Binding& binding, Bindings* out) {
  const Expr& old_value = BoundValue(binding);
  Expr value = old_value;
  if (const auto* branch = value.as<IfNode>()) {
    const Expr cond = replacer_.Replace(branch->cond);
    builder_.BeginScope({});
    const SeqExpr true_branch = RewriteSeq(branch->true_branch);
    builder_.EndScope();
    builder_.BeginScope({});
    const SeqExpr false_branch = RewriteSeq(branch->false_branch);
    builder_.EndScope();
    value = WithBranches(GetRef<If>(branch), cond, true_branch, false_branch);
    if (!value.same_as(old_value) || infers_branches_anew_) {
      const Type type = UnifyTypes(true_branch->body.ty(), false_branch->body.ty(), &builder_.analyzer());
      if (value.same_as(old_value) && !TypesIdentical(type, binding->var.ty())) {
        value = If(cond, true_branch, false_branch, branch->span);
      }
      if (!value.same_as(old_value)) value->ty = type;
    }
  } else if (const auto* function = value.as<FunctionNode>()) {
    builder_.BeginBindingBlock();  // its blocks are its own, whatever block holds it
    value = RewriteFunction(GetRef<Function>(function), function->params);
    builder_.EndBlock();
  } else {
    value = replacer_.Replace(value);
    if (!value.same_as(old_value) || !value.ty().defined()) value = Infer(value);
  }
  Binding rewritten = binding;
  const auto* cast = binding.as<MatchCastNode>();
  const Type cast_type = cast != nullptr ? replacer_.Replace(cast->ty) : Type();
  if (!value.same_as(old_value) || (cast != nullptr && !cast_type.same_as(cast->ty))) {
    const Type type = cast != nullptr ? cast_type : value.ty();
    Var var = binding->var;
    if (!TypesIdentical(type, var.ty())) {
      var = var->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(var->name_hint, type, var->span))
                                                 : Var(var->name_hint, type, var->span);
      replacer_.Set(binding->var, var);
    }
    rewritten = cast != nullptr ? Binding(MatchCast(var, value, cast_type, binding->span))
                                : Binding(VarBinding(var, value, binding->span));
  }
  builder_.EmitNormalized(rewritten);
  out->push_back(std::move(rewritten));
}

Expr TypedRewriter::RewriteResult(const Expr& result) {
  const Expr replaced = replacer_.Replace(result);
  return replaced.same_as(result) ? result : Infer(replaced);
}

/// `value`, new from the replacer, with the type that it has now.
Expr TypedRewriter::Infer(const Expr& value) {
  switch (value->kind) {
    case RelaxKind::kCall: {
      const auto* call = value.as<CallNode>();
      const Call anew(call->op, call->args, call->attrs, call->ty_args, call->span);
      const Expr inferred = builder_.Normalize(anew);
      // A kernel or packed function that is called for its effect returns nothing, which inference does not know.
      const auto* declared = value.ty().as<TupleTypeNode>();
      const bool returns_nothing = declared != nullptr && declared->fields.empty();
      if (returns_nothing && inferred.same_as(anew) && inferred.ty()->kind == TypeKind::kAny) anew->ty = value.ty();
      return inferred;
    }
    case RelaxKind::kTuple:
      return builder_.Normalize(Tuple(value.as<TupleNode>()->fields, value->span));
    case RelaxKind::kTupleGetItem: {
      const auto* item = value.as<TupleGetItemNode>();
      return builder_.Normalize(TupleGetItem(item->tuple, item->index, item->span));
    }
    default:
      return value;
  }
}

}  // namespace deuteron::relax
