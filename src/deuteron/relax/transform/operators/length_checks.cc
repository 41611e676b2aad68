#include "deuteron/relax/transform/operators/length_checks.h"

#include <utility>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

void AddExtents(const Type& type, std::vector<PrimExpr>* extents) {
  if (!type.defined()) return;
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) AddExtents(field, extents);
  } else if (const auto* tensor = type.as<TensorTypeNode>(); tensor != nullptr && tensor->has_shape()) {
    for (const PrimExpr& extent : *tensor->shape) extents->push_back(extent);
  }
}

/// Whether the type of `value` follows from its arguments; what comes from outside is matched with its type.
bool IsOperator(const Expr& value) {
  const auto* call = value.as<CallNode>();
  const auto* op = call == nullptr ? nullptr : call->op.as<OpNode>();
  const OpInfo* info = op == nullptr ? nullptr : FindOpInfo(GetRef<Op>(op));
  return info != nullptr && info->infer_type != nullptr;
}

Binding CheckOf(const Binding& binding, const std::vector<PrimExpr>& extents, bool in_dataflow) {
  Array<PrimExpr> given, wanted;
  for (const PrimExpr& extent : extents) {
    given.push_back(extent);
    wanted.push_back(Max(extent, MakeConst(extent.dtype(), 0)));
  }
  const ShapeType type(std::move(wanted));
  ShapeExpr shape(given);
  shape->ty = ShapeType(std::move(given));
  const String name = "the shape of its result";
  const Span& own = BoundValue(binding)->span;
  return MatchCast(in_dataflow ? Var(DataflowVar(name, type)) : Var(name, type), std::move(shape), type,
                   own.defined() ? own : binding->span);
}

}  // namespace

LengthChecks::LengthChecks(const Function& function, arith::Analyzer* analyzer) : analyzer_(analyzer) {
  for (const Var& param : function->params) Define(param.ty(), true);
}

void LengthChecks::Define(const Type& type, bool at_entry) {
  if (!type.defined()) return;
  for (const tir::Var& symbol : DefinedSymbolicVars(type)) symbols_.emplace(symbol.get(), at_entry);
}

bool LengthChecks::AllSymbols(const PrimExpr& extent, bool at_entry) const {
  return !UsesVar(extent, [&](const tir::VarNode* var) {
    const auto it = symbols_.find(var);
    return it == symbols_.end() || (at_entry && !it->second);
  });
}

bool LengthChecks::IsSettled(const PrimExpr& extent, bool settle) {
  const size_t hash = ExprHash(extent);
  const auto [begin, end] = settled_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (ExprEqual(it->second, extent)) return true;
  }
  const bool is_proved = analyzer_->CanProveGreaterEqual(extent, 0);
  if (is_proved || settle) settled_.emplace(hash, extent);
  return is_proved;
}

Binding LengthChecks::Pass(const Binding& binding, bool in_branch, bool in_dataflow) {
  std::vector<PrimExpr> extents, at_entry, here;
  if (IsOperator(BoundValue(binding))) AddExtents(binding->var.ty(), &extents);
  for (const PrimExpr& extent : extents) {
    // What only this binding tells has no sign before.
    if (!MayBeNegative(extent) || !AllSymbols(extent, false) || IsSettled(extent, !in_branch)) continue;
    (!in_branch && AllSymbols(extent, true) ? at_entry : here).push_back(extent);
  }
  Define(binding->var.ty(), false);
  if (!at_entry.empty()) at_entry_.push_back(CheckOf(binding, at_entry, false));
  return here.empty() ? Binding() : CheckOf(binding, here, in_dataflow);
}

}  // namespace deuteron::relax
