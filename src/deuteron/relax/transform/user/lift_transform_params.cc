/// \file
/// LiftTransformParams: weights are prepared once, not in each run.
///
/// Purpose: the attribute num_input says how many parameters of a function are inputs; the others are weights. What its
/// dataflow blocks compute from weights alone goes to a function of its own, `<name>_transform_params`, from the tuple
/// of the weights to the tuple of what is left to pass: weights that are used as they are, then prepared ones. The
/// function takes those instead, and before them a shape of the dimensions that only they define, if it needs some.
/// With `shared_transform`, one function `transform_params` does what all (or the named) functions with num_input have
/// in common; their weights must be of the same types.
///
/// `R.builtin.stop_lift_params(x)` ends that: it stays with what is computed from it, and x stands in its place.
///
/// What it must not do: lift what has side effects, consumes memory in place, or depends on inputs, also through
/// symbols that no weight defines; lift what depends on no weight for its own sake; change a function that is called in
/// the module (its calls would pass the wrong weights).
///
/// Better than TVM: an output of a dataflow block that is lifted becomes a parameter (TVM leaves it undefined); a
/// weight is projected once; equal preparations in shared functions are made once; symbolic shapes may be shared.
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/relax/transform/user/weight_steps.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

constexpr const char* kNumInput = "num_input";
using Objects = std::unordered_set<const Object*>;

/// The function without its lifted steps.
class StepRemover : public SeqRewriter {
 public:
  StepRemover(const WeightSteps& target, const std::vector<bool>& lifted, VarReplacer replacer)
      : target_(target), lifted_(lifted), replacer_(std::move(replacer)) {}

  Function Remove(const Array<Var>& params) {
    const Function& function = target_.function;
    const SeqExpr body = RewriteSeq(function->body);
    return Function(params, body, function->ret_ty, function->is_pure, function->attrs, function->span);
  }

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto step = target_.step_of.find(binding->var.get());
    if (step != target_.step_of.end() && lifted_[step->second]) return;
    if (IsStopLiftParams(BoundValue(binding))) {
      // It has done its work.
      const Expr value = replacer_.Replace(static_cast<const CallNode*>(BoundValue(binding).get())->args[0]);
      if (binding->var->kind == RelaxKind::kDataflowVar) {
        replacer_.Set(binding->var, value);
      } else {
        out->push_back(WithValue(binding, value));
      }
      return;
    }
    out->push_back(replacer_.Replace(WithValue(binding, RewriteNested(BoundValue(binding)))));
  }
  Expr RewriteResult(const Expr& result) override { return replacer_.Replace(result); }

 private:
  const WeightSteps& target_;
  const std::vector<bool>& lifted_;
  VarReplacer replacer_;
};

[[noreturn]] void Fail(const std::string& message) { DEUTERON_THROW(ModelError) << "LiftTransformParams: " << message; }

std::string Quoted(const GlobalVar& var) { return "function \"" + std::string(var->name_hint) + "\""; }

std::vector<WeightSteps> FindTargets(const IRModule& module, const std::vector<std::string>& names) {
  std::unordered_set<std::string> wanted(names.begin(), names.end());
  for (const std::string& name : names) {
    const auto function = As<Function>(module->functions.at(module.GetGlobalVar(name)));
    if (!function.defined() || !function->GetAttr<int64_t>(kNumInput).has_value()) {
      Fail("function \"" + name + "\" is to share its transformation and has no attribute num_input");
    }
  }
  std::vector<WeightSteps> targets;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined()) continue;
    const auto num_input = function->GetAttr<int64_t>(kNumInput);
    if (!num_input.has_value() || (!wanted.empty() && !wanted.count(std::string(var->name_hint)))) continue;
    if (*num_input < 0 || *num_input > static_cast<int64_t>(function->params.size())) {
      Fail(Quoted(var) + " has " + std::to_string(function->params.size()) + " parameters, and num_input is " +
           std::to_string(*num_input));
    }
    ThrowIfUsed(module, var, "LiftTransformParams");
    targets.push_back({var, function, static_cast<size_t>(*num_input), {}, {}});
  }
  return targets;
}

/// Replaces a target by what is left of it. `outputs` as of its own variables, `params` as they are called. Gives the
/// symbols that only types of weights defined and that it still needs: a parameter before the weights brings their
/// shape.
std::vector<tir::Var> Finish(const WeightSteps& target, const std::vector<bool>& lifted,
                             const std::vector<std::vector<Var>>& outputs, transform::DecisionLog* log,
                             IRModule* module) {
  Array<Var> params;
  for (size_t i = 0; i < target.num_input; ++i) params.push_back(target.function->params[static_cast<int64_t>(i)]);
  VarReplacer replacer;
  for (const std::vector<Var>& same : outputs) {
    const bool is_weight = same.size() == 1 && same[0]->kind == RelaxKind::kVar && !target.step_of.count(same[0].get());
    const Var param = is_weight ? same[0] : Var(same[0]->name_hint, same[0].ty(), same[0]->span);
    params.push_back(param);
    if (is_weight) continue;
    for (const Var& var : same) replacer.Set(var, param);
    transform::Decision decision{.reason = transform::Reason::kPreparedOnce};
    decision.pass = "LiftTransformParams";
    decision.function = target.var->name_hint;
    decision.subject = param->name_hint;
    log->Add(std::move(decision));
  }
  Function rest = StepRemover(target, lifted, std::move(replacer)).Remove(params);
  Objects of_weights;
  for (size_t i = 0; i < target.NumWeights(); ++i) {
    for (const tir::Var& symbol : DefinedSymbolicVars(target.Weight(i).ty())) of_weights.insert(symbol.get());
  }
  std::vector<tir::Var> symbols;
  for (const tir::Var& symbol : FreeSymbolicVars(rest)) {
    if (of_weights.count(symbol.get())) symbols.push_back(symbol);
  }
  if (!symbols.empty()) {
    const ShapeType shape(Array<PrimExpr>(symbols.begin(), symbols.end()));
    params.insert(params.begin() + static_cast<std::ptrdiff_t>(target.num_input),
                  Var("vars_from_compile_time_params", shape));
    rest = Function(params, rest->body, rest->ret_ty, rest->is_pure, rest->attrs, rest->span);
  }
  module->Update(target.var, std::move(rest));
  return symbols;
}

IRModule LiftEach(IRModule module, transform::DecisionLog* log) {
  for (WeightSteps& target : FindTargets(module, {})) {
    FindWeightSteps(module, &target);
    std::vector<bool> wanted;
    for (const WeightStep& step : target.steps) wanted.push_back(step.uses_weight);
    const std::vector<bool> lifted = RemovableSteps(target, std::move(wanted));
    const WeightNeeds needs = FindWeightNeeds(target, lifted);
    std::vector<Var> outputs;
    for (size_t i = 0; i < needs.weights.size(); ++i) {
      if (needs.weights[i]) outputs.push_back(target.Weight(i));
    }
    for (size_t i = 0; i < needs.steps.size(); ++i) {
      if (needs.steps[i]) outputs.push_back(target.steps[i].binding->var);
    }
    std::vector<std::vector<Var>> params;
    for (const Var& output : outputs) params.push_back({output});
    const auto symbols = Finish(target, lifted, params, log, &module);
    const std::string name = FunctionNames(module).Unique(std::string(target.var->name_hint) + "_transform_params");
    module.AddUnique(name, BuildWeightTransform(target, name, outputs, symbols));
  }
  return module;
}

void CheckSameWeights(const std::vector<WeightSteps>& targets) {
  const WeightSteps& first = targets[0];
  for (const WeightSteps& other : targets) {
    if (other.NumWeights() != first.NumWeights()) {
      Fail(Quoted(first.var) + " has " + std::to_string(first.NumWeights()) + " weights and " + Quoted(other.var) +
           " has " + std::to_string(other.NumWeights()) + "; they cannot share one transformation");
    }
    for (size_t i = 0; i < first.NumWeights(); ++i) {
      if (StructurallyEqual(first.Weight(i).ty(), other.Weight(i).ty(), true)) continue;
      Fail("weight " + std::to_string(i) + " is " + Describe(first.Weight(i).ty()) + " in " + Quoted(first.var) +
           " and " + Describe(other.Weight(i).ty()) + " in " + Quoted(other.var) +
           "; they cannot share one transformation");
    }
  }
}

IRModule LiftShared(IRModule module, const std::vector<std::string>& names, transform::DecisionLog* log) {
  std::vector<WeightSteps> targets = FindTargets(module, names);
  if (targets.empty()) return module;
  CheckSameWeights(targets);
  for (WeightSteps& target : targets) FindWeightSteps(module, &target);
  const WeightSteps& first = targets[0];

  // Which steps of the first all have, by the variable there.
  const CommonSteps common(first);
  std::vector<std::vector<Var>> matches;
  std::unordered_map<const Object*, size_t> count;
  for (const WeightSteps& target : targets) {
    matches.push_back(common.Match(target));
    Objects seen;
    for (const Var& match : matches.back()) {
      if (match.defined() && seen.insert(match.get()).second) ++count[match.get()];
    }
  }
  std::vector<std::vector<bool>> lifted(targets.size());
  std::vector<bool> weights(first.NumWeights(), false);
  Objects needed;
  for (size_t t = 0; t < targets.size(); ++t) {
    for (size_t i = 0; i < targets[t].steps.size(); ++i) {
      const Var& match = matches[t][i];
      const WeightStep& step = targets[t].steps[i];
      lifted[t].push_back(step.uses_weight && match.defined() && count[match.get()] == targets.size());
    }
    lifted[t] = RemovableSteps(targets[t], std::move(lifted[t]));
    const WeightNeeds needs = FindWeightNeeds(targets[t], lifted[t]);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = weights[i] || needs.weights[i];
    for (size_t i = 0; i < needs.steps.size(); ++i) {
      if (needs.steps[i]) needed.insert(matches[t][i].get());
    }
  }

  std::vector<Var> outputs;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i]) outputs.push_back(first.Weight(i));
  }
  const size_t raw = outputs.size();
  for (const WeightStep& step : first.steps) {
    if (needed.count(step.binding->var.get())) outputs.push_back(step.binding->var);
  }
  for (size_t t = 0; t < targets.size(); ++t) {
    std::vector<std::vector<Var>> params;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i]) params.push_back({targets[t].Weight(i)});
    }
    std::unordered_map<const Object*, std::vector<Var>> named;
    for (size_t i = 0; i < matches[t].size(); ++i) {
      if (lifted[t][i]) named[matches[t][i].get()].push_back(targets[t].steps[i].binding->var);
    }
    for (size_t i = raw; i < outputs.size(); ++i) params.push_back(named.at(outputs[i].get()));
    const auto symbols = Finish(targets[t], lifted[t], params, log, &module);
    if (!symbols.empty()) {
      Fail(Quoted(targets[t].var) + " needs dimension " + std::string(symbols[0]->name_hint) +
           " of a weight that it does not use otherwise: it cannot share its transformation");
    }
  }
  const std::string name = FunctionNames(module).Unique("transform_params");
  module.AddUnique(name, BuildWeightTransform(first, name, outputs, {}));
  return module;
}

}  // namespace

Pass LiftTransformParams(bool shared_transform, std::vector<std::string> functions) {
  return transform::ModulePass({.name = "LiftTransformParams", .opt_level = 1},
                               [shared_transform, functions](IRModule module, const transform::PassContext& context) {
                                 auto* log = context.decisions.get();
                                 return shared_transform ? LiftShared(std::move(module), functions, log)
                                                         : LiftEach(std::move(module), log);
                               });
}

}  // namespace deuteron::relax
