#include "deuteron/relax/transform/memory/memory_analysis.h"

#include <utility>

#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax {
namespace {

const std::shared_ptr<const Origins>& NoOrigins() {
  static const auto* none = new std::shared_ptr<const Origins>(std::make_shared<Origins>());
  return *none;
}

}  // namespace

MemoryAnalysis::MemoryAnalysis(const IRModule& module, const Function& function) : module_(module) {
  VisitSeq(function->body, false);
}

const Origins& MemoryAnalysis::OriginsOf(const Var& var) const {
  const auto it = origins_.find(var.get());
  return it == origins_.end() ? *NoOrigins() : *it->second;
}

std::shared_ptr<const Origins> MemoryAnalysis::Of(const Expr& expr) const {
  if (IsVar(expr)) {
    const auto it = origins_.find(expr.get());
    return it == origins_.end() ? NoOrigins() : it->second;
  }
  if (const auto* tuple = expr.as<TupleNode>()) {
    auto origins = std::make_shared<Origins>();
    for (const Expr& field : tuple->fields) origins->fields.push_back(Of(field));
    return origins;
  }
  if (const auto* get = expr.as<TupleGetItemNode>()) {
    auto tuple = Of(get->tuple);
    const auto index = static_cast<size_t>(get->index);
    return index < tuple->fields.size() ? tuple->fields[index] : tuple;
  }
  return NoOrigins();
}

void MemoryAnalysis::TouchOrigins(const Origins& origins) {
  for (const uint32_t id : origins.ids) allocations_[id].last = step_;
  for (const auto& field : origins.fields) TouchOrigins(*field);
}

void MemoryAnalysis::EscapeOrigins(const Origins& origins) {
  for (const uint32_t id : origins.ids) {
    allocations_[id].escapes = true;
    allocations_[id].last = step_;
  }
  for (const auto& field : origins.fields) EscapeOrigins(*field);
}

void MemoryAnalysis::Touch(const Expr& expr) {
  VisitLeaves(expr, [this](const Expr& leaf) { TouchOrigins(*Of(leaf)); });
}

void MemoryAnalysis::Escape(const Expr& expr) {
  VisitLeaves(expr, [this](const Expr& leaf) { EscapeOrigins(*Of(leaf)); });
}

/// A call that writes its results into its arguments and keeps none of them: of a kernel, or of an external
/// function that returns nothing.
bool MemoryAnalysis::IsDestinationPassing(const CallNode* call) const {
  if (const auto* var = call->op.as<GlobalVarNode>()) {
    return As<tir::PrimFunc>(module_.Lookup(GetRef<GlobalVar>(var))).defined();
  }
  const auto* result = call->ty.defined() ? call->ty.as<TupleTypeNode>() : nullptr;
  return call->op.as<ExternFuncNode>() != nullptr && result != nullptr && result->fields.empty();
}

void MemoryAnalysis::VisitBinding(const Var& var, const Expr& value, bool in_branch) {
  ++step_;
  steps_[var.get()] = step_;
  switch (value->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
    case RelaxKind::kTuple:
    case RelaxKind::kTupleGetItem:
      origins_[var.get()] = Of(value);
      return;
    case RelaxKind::kIf: {
      const auto* branch = static_cast<const IfNode*>(value.get());
      Touch(branch->cond);
      for (const SeqExpr& body : {branch->true_branch, branch->false_branch}) {
        VisitSeq(body, true);
      }
      return;
    }
    case RelaxKind::kCall:
      break;
    default:
      Touch(value);
      return;
  }
  const auto* call = static_cast<const CallNode*>(value.get());
  const MemoryCall kind = MemoryCallOf(value);
  if (kind == MemoryCall::kKill) return;
  if (kind != MemoryCall::kNone) {
    Touch(value);
    auto origins = std::make_shared<Origins>();
    origins->ids.push_back(allocations_.size());
    // A tensor in a storage keeps the storage alive.
    if (kind == MemoryCall::kAllocTensor) {
      for (const uint32_t id : Of(call->args[0])->ids) origins->ids.push_back(id);
    }
    allocations_.push_back({var, GetRef<Call>(call), step_, step_, false, in_branch});
    origins_[var.get()] = std::move(origins);
    return;
  }
  if (const Expr viewed = ViewedTensor(GetRef<Call>(call)); viewed.defined()) {
    Touch(viewed);
    origins_[var.get()] = Of(viewed);
    return;
  }
  if (IsDestinationPassing(call) || call->op.as<OpNode>() != nullptr) {
    // Graph-level operators that are left (shape_of and its like) read; call_pure_packed may return what it is given,
    // and a closure keeps it.
    const auto* op = call->op.as<OpNode>();
    const std::string_view name = op == nullptr ? "" : std::string_view(op->name.data(), op->name.size());
    const bool keeps = name.find("packed") != std::string_view::npos || name.find("closure") != std::string_view::npos;
    keeps ? Escape(value) : Touch(value);
    return;
  }
  Escape(value);
}

void MemoryAnalysis::VisitSeq(const SeqExpr& seq, bool in_branch) {
  for (const BindingBlock& block : seq->blocks) {
    for (const Binding& binding : block->bindings) {
      if (const auto* match = binding.as<MatchCastNode>()) {
        ++step_;
        steps_[match->var.get()] = step_;
        origins_[match->var.get()] = Of(match->value);
        Touch(match->value);  // its shape is looked at, whether or not the variable is used
        continue;
      }
      const auto* bound = binding.as<VarBindingNode>();
      VisitBinding(bound->var, bound->value, in_branch);
    }
  }
  ++step_;
  // The result of a branch too: where it goes is not followed.
  Escape(seq->body);
}

}  // namespace deuteron::relax
