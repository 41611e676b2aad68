#include "deuteron/relax/block_builder_impl.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

Array<Expr> Normalizer::Leaves(const Array<Expr>& exprs) {
  return exprs.Map([this](const Expr& expr) { return Leaf(expr); });
}

Expr Normalizer::Leaf(const Expr& expr) {
  DEUTERON_CHECK(expr.defined()) << "an expression is missing";
  switch (expr->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
      DEUTERON_CHECK(expr.ty().defined())
          << "variable " << static_cast<const VarNode*>(expr.get())->name_hint << " has no type";
      return expr;
    case RelaxKind::kTuple: {
      const auto* tuple = static_cast<const TupleNode*>(expr.get());
      Array<Expr> fields = Leaves(tuple->fields);
      if (fields.same_as(tuple->fields) && expr.ty().defined()) return expr;
      return Tuple(std::move(fields), expr->span);
    }
    case RelaxKind::kGlobalVar:
    case RelaxKind::kConstant:
    case RelaxKind::kShapeExpr:
    case RelaxKind::kPrimValue:
    case RelaxKind::kStringImm:
    case RelaxKind::kDataTypeImm:
    case RelaxKind::kExternFunc:
    case RelaxKind::kOp:
      return expr;
    case RelaxKind::kTupleGetItem:
    case RelaxKind::kCall:
    case RelaxKind::kSeqExpr:
    case RelaxKind::kIf:
    case RelaxKind::kFunction:
    case RelaxKind::kPrimFunc:
      break;
  }
  const Expr value = Value(expr);
  return IsLeaf(value) ? value : Expr(builder_->Emit(value));
}

Expr Normalizer::Value(const Expr& expr) {
  DEUTERON_CHECK(expr.defined()) << "an expression is missing";
  switch (expr->kind) {
    case RelaxKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItemNode*>(expr.get());
      const Expr tuple = Leaf(item->tuple);
      if (tuple.same_as(item->tuple) && expr.ty().defined()) return expr;
      TupleGetItem projection(tuple, item->index, expr->span);
      if (!projection.ty().defined()) {
        if (tuple.ty().as<AnyTypeNode>() == nullptr) {
          DEUTERON_THROW(ModelError) << "field " << item->index << " of something that is no tuple but "
                                     << Describe(tuple.ty());
        }
        projection->ty = AnyType::Get();
      }
      return projection;
    }
    case RelaxKind::kCall:
      return CallValue(Downcast<Call>(expr));
    case RelaxKind::kSeqExpr:
      return FlattenSeq(Downcast<SeqExpr>(expr));
    case RelaxKind::kIf:
      return IfValue(Downcast<If>(expr));
    case RelaxKind::kFunction:
    case RelaxKind::kPrimFunc:
      return expr;
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
    case RelaxKind::kGlobalVar:
    case RelaxKind::kConstant:
    case RelaxKind::kTuple:
    case RelaxKind::kShapeExpr:
    case RelaxKind::kPrimValue:
    case RelaxKind::kStringImm:
    case RelaxKind::kDataTypeImm:
    case RelaxKind::kExternFunc:
    case RelaxKind::kOp:
      return Leaf(expr);
  }
  DEUTERON_UNREACHABLE();
}

Expr Normalizer::CallValue(const Call& original) {
  Call call = original;
  const Expr op = Leaf(call->op);
  const Array<Expr> args = Leaves(call->args);
  if (!op.same_as(call->op) || !args.same_as(call->args)) {
    call = Call(op, args, call->attrs, call->ty_args, call->span);
  }
  if (!call.ty().defined()) call->ty = InferCallType(call);
  return call;
}

Type Normalizer::InferCallType(const Call& call) {
  if (const auto* op = call->op.as<OpNode>()) {
    const OpInfo* info = FindOpInfo(GetRef<Op>(op));
    if (info == nullptr) ThrowOpError(call, "there is no operator of this name");
    DEUTERON_CHECK(info->infer_type != nullptr) << "operator " << info->name << " has no type inference";
    return info->infer_type(call, *builder_);
  }
  if (!call->ty_args.empty() && call->op->kind == RelaxKind::kExternFunc) {
    return call->ty_args.size() == 1 ? call->ty_args[0] : Type(TupleType(call->ty_args));
  }
  const Type& type = call->op.ty();
  if (!type.defined() || type.as<AnyTypeNode>() != nullptr) return AnyType::Get();
  const auto* func = type.as<FuncTypeNode>();
  if (func == nullptr) ThrowOpError(call, "is called but is no function: " + Describe(type));
  return DeriveCallReturnType(GetRef<FuncType>(func), call, &builder_->analyzer());
}

SeqExpr Normalizer::Branch(const SeqExpr& seq) {
  Array<BindingBlock> blocks;
  const auto emit_block = [&](bool is_dataflow, const std::function<void()>& emit) {
    if (is_dataflow) {
      builder_->BeginDataflowBlock();
    } else {
      builder_->BeginBindingBlock();
    }
    emit();
    BindingBlock block = builder_->EndBlock();
    if (!block->bindings.empty()) blocks.push_back(block);
  };
  Expr body;
  for (const BindingBlock& block : seq->blocks) {
    const bool is_dataflow = block.as<DataflowBlockNode>() != nullptr;
    emit_block(is_dataflow, [&] {
      for (const Binding& binding : block->bindings) builder_->EmitNormalized(binding);
      // What the result needs belongs to the last block, or to one of its own.
      if (!is_dataflow && block.same_as(seq->blocks.back())) body = Leaf(seq->body);
    });
  }
  if (!body.defined()) emit_block(false, [&] { body = Leaf(seq->body); });
  return SeqExpr(std::move(blocks), body, seq->span);
}

Expr Normalizer::IfValue(const If& branch) {
  if (branch.ty().defined()) return branch;
  const Expr cond = Leaf(branch->cond);
  const auto* tensor = cond.ty().as<TensorTypeNode>();
  const auto* prim = cond.ty().as<PrimTypeNode>();
  const bool is_bool = (tensor != nullptr && (tensor->dtype.is_bool() || tensor->dtype.is_void()) &&
                        (tensor->ndim == 0 || tensor->ndim == kUnknownNDim)) ||
                       (prim != nullptr && prim->dtype.is_bool()) || cond.ty().as<AnyTypeNode>() != nullptr;
  if (!is_bool) {
    DEUTERON_THROW(ModelError) << "the condition of an if must be a scalar boolean and is " << Describe(cond.ty());
  }
  // Fresh names are given out as branches are read.
  const SeqExpr true_branch = Branch(branch->true_branch);
  const SeqExpr false_branch = Branch(branch->false_branch);
  If normal(cond, true_branch, false_branch, branch->span);
  normal->ty = UnifyTypes(normal->true_branch.ty(), normal->false_branch.ty(), &builder_->analyzer());
  return normal;
}

Expr Normalizer::FlattenSeq(const SeqExpr& seq) {
  for (const BindingBlock& block : seq->blocks) {
    if (block.as<DataflowBlockNode>() != nullptr && !builder_->InDataflowBlock()) {
      // Its variables may not be bound in a plain block.
      DEUTERON_CHECK(block->bindings.empty()) << "a dataflow block inside an expression that is bound outside of one";
    }
    for (const Binding& binding : block->bindings) builder_->EmitNormalized(binding);
  }
  return Value(seq->body);
}

}  // namespace deuteron::relax
