#include <algorithm>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/user/weight_steps.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

/// Writes the function from weights to what is passed instead of them.
class TransformBuilder {
 public:
  explicit TransformBuilder(const WeightSteps& target) : target_(target), params_("model_params", WeightsType()) {
    for (size_t i = 0; i < target.NumWeights(); ++i) weight_of_[target.Weight(i).get()] = static_cast<int64_t>(i);
  }

  /// `outputs`: weights and variables of steps; `symbols`: of weights.
  Function Build(const std::string& name, const std::vector<Var>& outputs, const std::vector<tir::Var>& symbols) {
    MarkNeeded(outputs);
    for (size_t i = 0; i < target_.steps.size(); ++i) {
      if (needed_[i]) CopyStep(target_.steps[i].binding);
    }
    Array<Expr> fields;
    Array<Type> types;
    if (!symbols.empty()) {
      fields.push_back(ShapeExpr(Array<PrimExpr>(symbols.begin(), symbols.end())));
      types.push_back(fields.back().ty());
    }
    bool whole = outputs.size() == target_.NumWeights() && symbols.empty();
    for (size_t i = 0; i < outputs.size(); ++i) {
      whole &= outputs[i].same_as(target_.Weight(std::min(i, target_.NumWeights() - 1)));
      fields.push_back(weight_of_.count(outputs[i].get()) ? Project(outputs[i], nullptr)
                                                          : replacer_.Replace(Expr(outputs[i])));
      types.push_back(fields.back().ty());
    }
    const Tuple result(fields);
    result->ty = TupleType(types);
    Expr body = result;
    Array<BindingBlock> blocks;
    if (whole && !fields.empty()) {
      body = params_;
    } else if (!fields.empty()) {
      const Var var("output_tuple", result->ty);
      bindings_.push_back(VarBinding(var, result));
      blocks.push_back(DataflowBlock(Array<Binding>(bindings_.begin(), bindings_.end())));
      body = var;
    }
    Function function({params_}, SeqExpr(std::move(blocks), body), result->ty, true);
    function = WithAttr(std::move(function), "global_symbol", String(name));
    function = WithAttr(std::move(function), "num_input", int64_t{0});
    return Renewed(function);
  }

 private:
  Type WeightsType() const {
    Array<Type> types;
    for (size_t i = 0; i < target_.NumWeights(); ++i) types.push_back(target_.Weight(i).ty());
    return TupleType(std::move(types));
  }

  void MarkNeeded(const std::vector<Var>& outputs) {
    needed_.assign(target_.steps.size(), false);
    const auto need = [this](const Expr& leaf) {
      const auto step = target_.step_of.find(leaf.get());
      if (step != target_.step_of.end()) needed_[step->second] = true;
    };
    for (const Var& output : outputs) need(output);
    for (size_t i = target_.steps.size(); i-- > 0;) {
      if (needed_[i]) VisitLeaves(BoundValue(target_.steps[i].binding), need);
    }
  }

  void CopyStep(const Binding& binding) {
    const Expr& value = BoundValue(binding);
    const Var var = DataflowVar(binding->var->name_hint, binding->var.ty(), binding->var->span);
    replacer_.Set(binding->var, var);
    if (weight_of_.count(value.get())) {
      Project(Downcast<Var>(value), &var);
      return;
    }
    bindings_.push_back(VarBinding(var, ReplaceLeaves(value), binding->span));
  }

  /// `value` on the variables of this function.
  Expr ReplaceLeaves(const Expr& value) {
    VisitLeaves(value, [this](const Expr& leaf) {
      if (weight_of_.count(leaf.get())) Project(Downcast<Var>(leaf), nullptr);
    });
    return replacer_.Replace(value);
  }

  Expr Project(const Var& weight, const Var* name) {
    if (const auto known = projections_.find(weight.get()); known != projections_.end()) {
      if (name != nullptr) bindings_.push_back(VarBinding(*name, known->second));
      return known->second;
    }
    const TupleGetItem item(params_, weight_of_.at(weight.get()));
    item->ty = weight.ty();
    const Var var = name != nullptr ? *name : Var(DataflowVar(weight->name_hint, weight.ty(), weight->span));
    bindings_.push_back(VarBinding(var, item));
    projections_.emplace(weight.get(), var);
    replacer_.Set(weight, var);
    return var;
  }

  /// The symbols of weights are those of another function.
  static Function Renewed(const Function& function) {
    VarReplacer renewal;
    for (const tir::Var& symbol : SymbolicVars(function->params[0].ty())) {
      renewal.SetSymbol(symbol, tir::Var(symbol->name_hint, symbol->dtype));
    }
    return renewal.empty() ? function : renewal.Replace(function);
  }

  const WeightSteps& target_;
  Var params_;
  std::unordered_map<const Object*, int64_t> weight_of_;
  std::unordered_map<const Object*, Var> projections_;
  std::vector<bool> needed_;
  std::vector<Binding> bindings_;
  VarReplacer replacer_;
};

}  // namespace

Function BuildWeightTransform(const WeightSteps& target, const std::string& name, const std::vector<Var>& outputs,
                              const std::vector<tir::Var>& symbols) {
  return TransformBuilder(target).Build(name, outputs, symbols);
}

}  // namespace deuteron::relax
