#include "deuteron/relax/rewrite/pass_utils.h"

#include <utility>

namespace deuteron::relax {

bool IsSealed(const BaseFunc& func) {
  if (!func->attrs.defined()) return false;
  const auto& attrs = func->attrs->dict;
  return func->HasNonzeroAttr("Primitive") || attrs.count("Composite") || attrs.count("Codegen");
}

namespace {

using FunctionUpdate = std::function<Function(const GlobalVar&, Function)>;

IRModule UpdateSelected(IRModule module, bool sealed_too, const FunctionUpdate& update) {
  std::vector<std::pair<GlobalVar, Function>> changed;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined() || (!sealed_too && IsSealed(function))) continue;
    Function updated = update(var, function);
    if (!updated.same_as(function)) changed.emplace_back(var, std::move(updated));
  }
  for (auto& [var, func] : changed) module.Update(var, std::move(func));
  return module;
}

}  // namespace

IRModule UpdateFunctions(IRModule module, const FunctionUpdate& update) {
  return UpdateSelected(std::move(module), false, update);
}

IRModule UpdateAllFunctions(IRModule module, const FunctionUpdate& update) {
  return UpdateSelected(std::move(module), true, update);
}

Function WithBody(Function function, SeqExpr body) {
  if (function->body.same_as(body)) return function;
  CopyOnWrite(&function)->body = std::move(body);
  return function;
}

const Expr& BoundValue(const Binding& binding) {
  if (const auto* bound = binding.as<VarBindingNode>()) return bound->value;
  return static_cast<const MatchCastNode*>(binding.get())->value;
}

void VisitValues(const SeqExpr& seq, const std::function<void(const Expr&)>& visit) {
  const auto enter = [&](const Expr& value) {
    visit(value);
    if (const auto* branch = value.as<IfNode>()) {
      VisitValues(branch->true_branch, visit);
      VisitValues(branch->false_branch, visit);
    }
    if (const auto* function = value.as<FunctionNode>()) VisitValues(function->body, visit);
  };
  for (const BindingBlock& block : seq->blocks) {
    for (const Binding& binding : Borrow(block->bindings)) enter(BoundValue(binding));
  }
  enter(seq->body);
}

void VisitAllLeaves(const SeqExpr& seq, const std::function<void(const Expr&)>& visit) {
  VisitValues(seq, [&](const Expr& value) {
    if (const auto* branch = value.as<IfNode>()) {
      VisitLeaves(branch->cond, visit);
    } else {
      VisitLeaves(value, visit);
    }
  });
}

void ThrowIfUsed(const IRModule& module, const GlobalVar& callee, const char* pass) {
  for (const auto& [caller, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined()) continue;
    VisitAllLeaves(function->body, [&, caller = caller](const Expr& leaf) {
      if (!leaf.same_as(callee)) return;
      DEUTERON_THROW(ModelError) << pass << ": the parameters of function \"" << std::string(callee->name_hint)
                                 << "\" cannot change, because function \"" << std::string(caller->name_hint)
                                 << "\" uses it";
    });
  }
}

void ForEachBinding(const IRModule& module, const std::function<void(const Binding&)>& visit) {
  std::vector<SeqExpr> pending;
  for (const auto& [var, func] : module->functions) {
    if (const auto function = As<Function>(func); function.defined()) pending.push_back(function->body);
  }
  while (!pending.empty()) {
    const SeqExpr seq = pending.back();
    pending.pop_back();
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        visit(binding);
        const Expr& value = BoundValue(binding);
        if (const auto* branch = value.as<IfNode>()) {
          pending.push_back(branch->false_branch);
          pending.push_back(branch->true_branch);
        } else if (const auto* function = value.as<FunctionNode>()) {
          pending.push_back(function->body);
        }
      }
    }
  }
}

FunctionNames::FunctionNames(const IRModule& module) {
  for (const auto& [name, var] : module->global_vars) used_.emplace(std::string(name), 0);
}

std::string FunctionNames::Unique(const std::string& name, const char* separator) {
  if (used_.try_emplace(name, 0).second) return name;
  for (;;) {
    std::string candidate = name + separator + std::to_string(++used_[name]);
    if (used_.try_emplace(candidate, 0).second) return candidate;
  }
}

std::vector<uint32_t> TopologicalOrder(uint32_t count,
                                       const std::function<const std::vector<uint32_t>&(uint32_t)>& dependencies) {
  enum State : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(count, kNew);
  std::vector<uint32_t> order;
  order.reserve(count);
  std::vector<std::pair<uint32_t, size_t>> stack;
  for (uint32_t first = 0; first < count; ++first) {
    if (state[first] != kNew) continue;
    state[first] = kOpen;
    stack.push_back({first, 0});
    while (!stack.empty()) {
      auto& [item, next] = stack.back();
      const auto& required = dependencies(item);
      if (next < required.size()) {
        const uint32_t dependency = required[next++];
        if (state[dependency] == kOpen) {
          DEUTERON_THROW(ModelError) << "two groups of operators depend on each other: they cannot be functions";
        }
        if (state[dependency] == kNew) {
          state[dependency] = kOpen;
          stack.push_back({dependency, 0});
        }
        continue;
      }
      state[item] = kDone;
      order.push_back(item);
      stack.pop_back();
    }
  }
  return order;
}

}  // namespace deuteron::relax
