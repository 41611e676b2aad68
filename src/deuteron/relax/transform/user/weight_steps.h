/// \file
/// What of a function depends on nothing but its weights: the analysis behind LiftTransformParams.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/relax/rewrite/var_replacer.h"

namespace deuteron::relax {

/// Whether `value` is a call of R.builtin.stop_lift_params: what is computed from it is no step.
bool IsStopLiftParams(const Expr& value);

/// A binding that depends on nothing but weights.
struct WeightStep {
  Binding binding;
  /// On one at least.
  bool uses_weight = false;
};

/// A function whose parameters from `num_input` on are weights, and what its dataflow blocks do with them alone.
struct WeightSteps {
  GlobalVar var;
  Function function;
  size_t num_input = 0;
  std::vector<WeightStep> steps;
  /// The step of a variable.
  std::unordered_map<const Object*, size_t> step_of;

  size_t NumWeights() const { return function->params.size() - num_input; }
  Var Weight(size_t i) const { return function->params[static_cast<int64_t>(num_input + i)]; }
};

/// Fills in the steps.
void FindWeightSteps(const IRModule& module, WeightSteps* target);

/// What the rest of a function needs of what weights and `lifted` steps give.
struct WeightNeeds {
  std::vector<bool> weights;
  std::vector<bool> steps;
};
WeightNeeds FindWeightNeeds(const WeightSteps& target, const std::vector<bool>& lifted);

/// Which of the steps in `wanted` can leave their function: one that is needed there but is neither tensor nor tuple of
/// tensors stays, with what it uses.
std::vector<bool> RemovableSteps(const WeightSteps& target, std::vector<bool> wanted);

/// Finds the steps of one function again in others whose weights have the same types.
class CommonSteps {
 public:
  explicit CommonSteps(const WeightSteps& first);
  /// For each step of `other` the variable of the same step in the first; null where there is none.
  std::vector<Var> Match(const WeightSteps& other) const;

 private:
  VarReplacer Onto(const WeightSteps& other) const;
  const Var* Find(const Expr& value, const Type& type) const;

  const WeightSteps& first_;
  VarReplacer replacer_;
  std::unordered_multimap<size_t, std::pair<Expr, Var>> table_;
};

/// The function `name` from a tuple of the weights to a tuple of, if there are any, a shape of `symbols`, which types
/// of weights define, and of `outputs`: weights and variables of steps.
Function BuildWeightTransform(const WeightSteps& target, const std::string& name, const std::vector<Var>& outputs,
                              const std::vector<tir::Var>& symbols);

}  // namespace deuteron::relax
