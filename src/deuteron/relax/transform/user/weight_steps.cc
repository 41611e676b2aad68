#include "deuteron/relax/transform/user/weight_steps.h"

#include <algorithm>
#include <unordered_set>

#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/user/value_key.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

using Objects = std::unordered_set<const Object*>;

bool IsTensors(const Type& type) {
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) {
      if (!IsTensors(field)) return false;
    }
    return true;
  }
  return type->IsInstance<TensorTypeNode>();
}

}  // namespace

bool IsStopLiftParams(const Expr& value) {
  static const Op kStop = Op::Get("relax.builtin.stop_lift_params");
  const auto* call = value.as<CallNode>();
  return call != nullptr && call->op.same_as(kStop);
}

void FindWeightSteps(const IRModule& module, WeightSteps* target) {
  std::unordered_map<const Object*, bool> known;  // variable → uses a weight
  Objects symbols;
  for (size_t i = 0; i < target->NumWeights(); ++i) {
    known[target->Weight(i).get()] = true;
    for (const tir::Var& symbol : SymbolicVars(target->Weight(i).ty())) symbols.insert(symbol.get());
  }
  const auto symbols_known = [&](const Type& type) {
    const auto used = SymbolicVars(type);
    return std::all_of(used.begin(), used.end(), [&](const tir::Var& symbol) { return symbols.count(symbol.get()); });
  };
  for (const BindingBlock& block : target->function->body->blocks) {
    if (!block->IsInstance<DataflowBlockNode>()) continue;
    for (const Binding& binding : block->bindings) {
      const Expr& value = BoundValue(binding);
      const auto* cast = binding.as<MatchCastNode>();
      if (value->kind == RelaxKind::kIf || value->kind == RelaxKind::kFunction || HasSideEffect(value, module))
        continue;
      if (IsStopLiftParams(value) || IsCallTIRInplace(value) ||
          (cast != nullptr && !TypesIdentical(cast->ty, value.ty())))
        continue;
      if (!symbols_known(binding->var.ty())) continue;
      bool liftable = true;
      bool uses_weight = false;
      VisitLeaves(value, [&](const Expr& leaf) {
        if (const auto* shape = leaf.as<ShapeExprNode>()) liftable &= symbols_known(ShapeType(shape->values));
        if (const auto* scalar = leaf.as<PrimValueNode>()) liftable &= symbols_known(ShapeType({scalar->value}));
        if (!IsVar(leaf)) return;
        const auto found = known.find(leaf.get());
        liftable &= found != known.end();
        uses_weight |= found != known.end() && found->second;
      });
      if (const auto* call = value.as<CallNode>()) {
        for (const Type& type : call->ty_args) liftable &= symbols_known(type);
      }
      if (!liftable) continue;
      known[binding->var.get()] = uses_weight;
      target->step_of[binding->var.get()] = target->steps.size();
      target->steps.push_back({binding, uses_weight});
    }
  }
}

WeightNeeds FindWeightNeeds(const WeightSteps& target, const std::vector<bool>& lifted) {
  WeightNeeds needs{std::vector<bool>(target.NumWeights(), false), std::vector<bool>(target.steps.size(), false)};
  std::unordered_map<const Object*, size_t> weight_of;
  for (size_t i = 0; i < target.NumWeights(); ++i) weight_of[target.Weight(i).get()] = i;
  const auto use = [&](const Expr& leaf) {
    if (const auto weight = weight_of.find(leaf.get()); weight != weight_of.end()) needs.weights[weight->second] = true;
    const auto step = target.step_of.find(leaf.get());
    if (step != target.step_of.end() && lifted[step->second]) needs.steps[step->second] = true;
  };
  for (const BindingBlock& block : target.function->body->blocks) {
    for (const Binding& binding : block->bindings) {
      const auto step = target.step_of.find(binding->var.get());
      if (step == target.step_of.end() || !lifted[step->second])
        VisitAllLeaves(SeqExpr(kEmpty, BoundValue(binding)), use);
    }
  }
  VisitLeaves(target.function->body->body, use);
  return needs;
}

std::vector<bool> RemovableSteps(const WeightSteps& target, std::vector<bool> wanted) {
  std::vector<bool> needed = FindWeightNeeds(target, wanted).steps;
  for (size_t i = wanted.size(); i-- > 0;) {
    if (!wanted[i] || !needed[i] || IsTensors(target.steps[i].binding->var.ty())) continue;
    wanted[i] = false;
    VisitLeaves(BoundValue(target.steps[i].binding), [&](const Expr& leaf) {
      if (const auto step = target.step_of.find(leaf.get()); step != target.step_of.end()) needed[step->second] = true;
    });
  }
  return wanted;
}

CommonSteps::CommonSteps(const WeightSteps& first) : first_(first) {
  for (size_t i = 0; i < first.steps.size(); ++i) {
    const Expr value = replacer_.Replace(BoundValue(first.steps[i].binding));
    if (const Var* same = Find(value, first.steps[i].binding->var.ty()); same != nullptr) {
      replacer_.Set(first.steps[i].binding->var, *same);
    } else {
      table_.emplace(ValueHash(value), std::pair{value, first.steps[i].binding->var});
    }
  }
}

std::vector<Var> CommonSteps::Match(const WeightSteps& other) const {
  VarReplacer replacer = other.function.same_as(first_.function) ? replacer_ : Onto(other);
  std::vector<Var> matches;
  Objects own;
  for (const WeightStep& step : other.steps) {
    const Expr value = replacer.Replace(BoundValue(step.binding));
    bool mapped = true;
    VisitLeaves(value, [&](const Expr& leaf) { mapped &= !own.count(leaf.get()); });
    const Var* same = mapped ? Find(value, replacer.Replace(step.binding->var.ty())) : nullptr;
    matches.push_back(same == nullptr ? Var() : *same);
    if (same != nullptr) {
      replacer.Set(step.binding->var, *same);
    } else {
      own.insert(step.binding->var.get());
    }
  }
  return matches;
}

VarReplacer CommonSteps::Onto(const WeightSteps& other) const {
  VarReplacer replacer;
  for (size_t i = 0; i < other.NumWeights(); ++i) {
    replacer.Set(other.Weight(i), first_.Weight(i));
    const auto from = SymbolicVars(other.Weight(i).ty());
    const auto to = SymbolicVars(first_.Weight(i).ty());
    for (size_t s = 0; s < from.size(); ++s) replacer.SetSymbol(from[s], to[s]);
  }
  return replacer;
}

const Var* CommonSteps::Find(const Expr& value, const Type& type) const {
  const auto [begin, end] = table_.equal_range(ValueHash(value));
  for (auto it = begin; it != end; ++it) {
    const auto& [known, var] = it->second;
    if (TypesIdentical(type, var.ty()) && SameValue(value, known)) return &var;
  }
  return nullptr;
}

}  // namespace deuteron::relax
