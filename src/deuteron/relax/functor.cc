#include "deuteron/relax/functor.h"

#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

void ExprVisitor::VisitExpr(const Expr& expr) {
  const ExprNode* node = expr.get();
  switch (node->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
      return VisitVar_(static_cast<const VarNode*>(node));
    case RelaxKind::kGlobalVar:
      return VisitGlobalVar_(static_cast<const GlobalVarNode*>(node));
    case RelaxKind::kConstant:
      return VisitConstant_(static_cast<const ConstantNode*>(node));
    case RelaxKind::kTuple:
      return VisitTuple_(static_cast<const TupleNode*>(node));
    case RelaxKind::kTupleGetItem:
      return VisitTupleGetItem_(static_cast<const TupleGetItemNode*>(node));
    case RelaxKind::kCall:
      return VisitCall_(static_cast<const CallNode*>(node));
    case RelaxKind::kShapeExpr:
      return VisitShapeExpr_(static_cast<const ShapeExprNode*>(node));
    case RelaxKind::kPrimValue:
      return VisitPrimValue_(static_cast<const PrimValueNode*>(node));
    case RelaxKind::kStringImm:
      return VisitStringImm_(static_cast<const StringImmNode*>(node));
    case RelaxKind::kDataTypeImm:
      return VisitDataTypeImm_(static_cast<const DataTypeImmNode*>(node));
    case RelaxKind::kSeqExpr:
      return VisitSeqExpr_(static_cast<const SeqExprNode*>(node));
    case RelaxKind::kIf:
      return VisitIf_(static_cast<const IfNode*>(node));
    case RelaxKind::kFunction:
      return VisitFunction_(static_cast<const FunctionNode*>(node));
    case RelaxKind::kExternFunc:
      return VisitExternFunc_(static_cast<const ExternFuncNode*>(node));
    case RelaxKind::kPrimFunc:
      return VisitPrimFunc_(static_cast<const BaseFuncNode*>(node));
    case RelaxKind::kOp:
      return VisitOp_(static_cast<const OpNode*>(node));
  }
  DEUTERON_UNREACHABLE();
}
void ExprVisitor::VisitTuple_(const TupleNode* op) {
  for (const Expr& field : op->fields) VisitExpr(field);
}
void ExprVisitor::VisitTupleGetItem_(const TupleGetItemNode* op) { VisitExpr(op->tuple); }
void ExprVisitor::VisitCall_(const CallNode* op) {
  VisitExpr(op->op);
  for (const Expr& arg : op->args) VisitExpr(arg);
}
void ExprVisitor::VisitSeqExpr_(const SeqExprNode* op) {
  for (const BindingBlock& block : op->blocks) VisitBlock(block);
  VisitExpr(op->body);
}
void ExprVisitor::VisitIf_(const IfNode* op) {
  VisitExpr(op->cond);
  VisitExpr(op->true_branch);
  VisitExpr(op->false_branch);
}
void ExprVisitor::VisitFunction_(const FunctionNode* op) {
  for (const Var& param : op->params) VisitVarDef(param);
  VisitExpr(op->body);
}
void ExprVisitor::VisitBlock(const BindingBlock& block) {
  for (const Binding& binding : block->bindings) VisitBinding(binding);
}
void ExprVisitor::VisitBinding(const Binding& binding) {
  if (const auto* bound = binding.as<VarBindingNode>()) {
    VisitExpr(bound->value);
  } else {
    VisitExpr(static_cast<const MatchCastNode*>(binding.get())->value);
  }
  VisitVarDef(binding->var);
}

Expr ExprMutator::VisitExpr(const Expr& expr) {
  const ExprNode* node = expr.get();
  switch (node->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
      return VisitVar_(static_cast<const VarNode*>(node));
    case RelaxKind::kConstant:
      return VisitConstant_(static_cast<const ConstantNode*>(node));
    case RelaxKind::kTuple:
      return VisitTuple_(static_cast<const TupleNode*>(node));
    case RelaxKind::kTupleGetItem:
      return VisitTupleGetItem_(static_cast<const TupleGetItemNode*>(node));
    case RelaxKind::kCall:
      return VisitCall_(static_cast<const CallNode*>(node));
    case RelaxKind::kSeqExpr:
      return VisitSeqExpr_(static_cast<const SeqExprNode*>(node));
    case RelaxKind::kIf:
      return VisitIf_(static_cast<const IfNode*>(node));
    case RelaxKind::kFunction:
      return VisitFunction_(static_cast<const FunctionNode*>(node));
    case RelaxKind::kGlobalVar:
    case RelaxKind::kShapeExpr:
    case RelaxKind::kPrimValue:
    case RelaxKind::kStringImm:
    case RelaxKind::kDataTypeImm:
    case RelaxKind::kExternFunc:
    case RelaxKind::kPrimFunc:
    case RelaxKind::kOp:
      return VisitLeaf_(node);
  }
  DEUTERON_UNREACHABLE();
}
Expr ExprMutator::VisitVar_(const VarNode* op) {
  auto it = remap_.find(op);
  return it == remap_.end() ? GetRef<Expr>(op) : it->second;
}
Expr ExprMutator::VisitLeaf_(const ExprNode* op) { return GetRef<Expr>(op); }
Expr ExprMutator::VisitConstant_(const ConstantNode* op) { return GetRef<Expr>(op); }
Expr ExprMutator::VisitTuple_(const TupleNode* op) {
  Array<Expr> fields = op->fields.Map([this](const Expr& field) { return VisitExpr(field); });
  return fields.same_as(op->fields) ? GetRef<Expr>(op) : Expr(Tuple(std::move(fields), op->span));
}
Expr ExprMutator::VisitTupleGetItem_(const TupleGetItemNode* op) {
  Expr tuple = VisitExpr(op->tuple);
  return tuple.same_as(op->tuple) ? GetRef<Expr>(op) : Expr(TupleGetItem(std::move(tuple), op->index, op->span));
}
Call ExprMutator::VisitExprPostOrder(const CallNode* op) {
  Expr callee = VisitExpr(op->op);
  Array<Expr> args = op->args.Map([this](const Expr& arg) { return VisitExpr(arg); });
  if (callee.same_as(op->op) && args.same_as(op->args)) return GetRef<Call>(op);
  return Call(std::move(callee), std::move(args), op->attrs, op->ty_args, op->span);
}
SeqExpr ExprMutator::VisitScope(const SeqExpr& seq, const Array<Var>& params) {
  builder_.BeginScope(params);
  Expr visited = VisitSeqExpr_(seq.get());
  builder_.EndScope();
  return Downcast<SeqExpr>(visited);
}
Expr ExprMutator::VisitSeqExpr_(const SeqExprNode* op) {
  Array<BindingBlock> blocks = op->blocks.Map([this](const BindingBlock& block) { return VisitBlock(block); });
  Expr body = op->body;
  // What the result needs is bound in a block of its own.
  builder_.BeginBindingBlock();
  body = builder_.Normalize(VisitExpr(body));
  const BindingBlock last = builder_.EndBlock();
  if (blocks.same_as(op->blocks) && body.same_as(op->body) && last->bindings.empty()) return GetRef<Expr>(op);
  if (!last->bindings.empty()) blocks.push_back(last);
  return SeqExpr(std::move(blocks), std::move(body), op->span);
}
Expr ExprMutator::VisitIf_(const IfNode* op) {
  Expr cond = VisitExpr(op->cond);
  SeqExpr true_branch = VisitScope(op->true_branch, {});
  SeqExpr false_branch = VisitScope(op->false_branch, {});
  if (cond.same_as(op->cond) && true_branch.same_as(op->true_branch) && false_branch.same_as(op->false_branch)) {
    return GetRef<Expr>(op);
  }
  return If(std::move(cond), std::move(true_branch), std::move(false_branch), op->span);
}
Expr ExprMutator::VisitFunction_(const FunctionNode* op) {
  SeqExpr body = VisitScope(op->body, op->params);
  if (body.same_as(op->body)) return GetRef<Expr>(op);
  Type ret = body->body.ty().defined() ? body->body.ty() : op->ret_ty;
  return Function(op->params, std::move(body), std::move(ret), op->is_pure, op->attrs, op->span);
}
BindingBlock ExprMutator::VisitBlock(const BindingBlock& block) {
  if (block->IsInstance<DataflowBlockNode>()) {
    builder_.BeginDataflowBlock();
  } else {
    builder_.BeginBindingBlock();
  }
  for (const Binding& binding : block->bindings) VisitBinding(binding);
  const BindingBlock rebuilt = builder_.EndBlock();
  const bool same = rebuilt->bindings.size() == block->bindings.size() &&
                    std::equal(rebuilt->bindings.begin(), rebuilt->bindings.end(), block->bindings.begin(),
                               [](const Binding& a, const Binding& b) { return a.same_as(b); });
  return same ? block : rebuilt;
}
void ExprMutator::VisitBinding(const Binding& binding) {
  const auto* cast = binding.as<MatchCastNode>();
  const Expr& old_value = cast ? cast->value : static_cast<const VarBindingNode*>(binding.get())->value;
  Expr value = VisitExpr(old_value);
  if (value.same_as(old_value)) return builder_.EmitNormalized(binding);
  value = builder_.Normalize(value);
  if (cast) return builder_.EmitNormalized(MatchCast(binding->var, value, cast->ty, binding->span));
  Var var = binding->var;
  if (value.ty().defined() && !(var.ty().defined() && TypesIdentical(value.ty(), var.ty()))) {
    var = var->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(var->name_hint, value.ty(), var->span))
                                               : Var(var->name_hint, value.ty(), var->span);
    Remap(binding->var, var);
  }
  builder_.EmitNormalized(VarBinding(var, value, binding->span));
}
Expr ExprMutator::LookupBinding(const Expr& expr) const {
  const Var var = As<Var>(expr);
  return var.defined() ? builder_.LookupBinding(var) : Expr();
}

namespace {

class PostOrder : public ExprVisitor {
 public:
  explicit PostOrder(const std::function<void(const Expr&)>& visit) : visit_(visit) {}
  void VisitExpr(const Expr& expr) override {
    ExprVisitor::VisitExpr(expr);
    visit_(expr);
  }

 private:
  const std::function<void(const Expr&)>& visit_;
};

}  // namespace

void PostOrderVisit(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  PostOrder(visit).VisitExpr(expr);
}

}  // namespace deuteron::relax
