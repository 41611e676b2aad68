#include "deuteron/relax/transform/fusion/fused_functions.h"

#include <algorithm>

#include "deuteron/relax/op/call.h"

namespace deuteron::relax::fusion {

size_t FusedFunctions::KeyHash::operator()(const std::vector<int64_t>& key) const {
  uint64_t hash = key.size();
  for (const int64_t word : key) {
    hash ^= static_cast<uint64_t>(word) + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
    hash *= 0xFF51AFD7ED558CCDULL;
  }
  return hash;
}

FusedFunctions::FusedFunctions(const IRModule& module, Finish finish) : names_(module), finish_(std::move(finish)) {
  for (const auto& [var, func] : module->functions) {
    const auto* function = func.as<FunctionNode>();
    const bool comparable = function && function->attrs.defined() && function->attrs->dict.size() == 1 &&
                            function->HasNonzeroAttr("Primitive");
    if (comparable) by_structure_[StructuralHash::Hash(func)].push_back({var, func});
  }
}

GlobalVar FusedFunctions::Get(const GroupFunction& group) {
  auto [it, inserted] = by_key_.try_emplace(group.key());
  if (inserted) it->second = GetByStructure(group);
  return it->second;
}

GlobalVar FusedFunctions::GetByStructure(const GroupFunction& group) {
  const Function function = group.Build();
  auto& candidates = by_structure_[StructuralHash::Hash(function)];
  for (const auto& [var, existing] : candidates) {
    if (StructurallyEqual(existing, function)) return var;
  }
  const std::string name = names_.Unique(group.name());
  Finished finished{function, ""};
  if (finish_) {
    finished = finish_(function);
    finished.function = WithAttr(finished.function, "global_symbol", String(name + finished.suffix));
  }
  GlobalVar var(name + finished.suffix, function.ty());
  candidates.push_back({var, function});
  added_.emplace_back(var, finished.function);
  return var;
}

void GroupEmitter::AddMembers(const std::vector<uint32_t>& group) {
  const auto count = static_cast<uint32_t>(bindings_.size());
  std::vector<uint32_t> number(count, UINT32_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t& mine = number[group[i]];
    if (mine == UINT32_MAX) {
      mine = static_cast<uint32_t>(members_.size());
      members_.emplace_back();
    }
    group_of_[i] = mine;
    members_[mine].push_back(i);
  }
  functions_.resize(members_.size());
  names_.assign(members_.size(), String());
}

GroupEmitter::GroupEmitter(const std::vector<Binding>& bindings, const std::vector<uint32_t>& group, bool wrap_single)
    : bindings_(bindings), group_of_(bindings.size()) {
  AddMembers(group);
  for (uint32_t g = 0; g < members_.size(); ++g) {
    const auto& members = members_[g];
    if (members.size() == 1 && !(wrap_single && IsAnyCallTIR(BoundValue(bindings[members[0]])))) continue;
    functions_[g] = std::make_unique<GroupFunction>(GroupFunction::Options{});
    for (const uint32_t i : members) functions_[g]->Append(bindings[i]);
    if (!functions_[g]->has_call()) functions_[g].reset();
  }
}

GroupEmitter::GroupEmitter(const std::vector<Binding>& bindings, const std::vector<uint32_t>& group,
                           const std::function<const GroupFunction::Options*(uint32_t first)>& options)
    : bindings_(bindings), group_of_(bindings.size()) {
  AddMembers(group);
  for (uint32_t g = 0; g < members_.size(); ++g) {
    const GroupFunction::Options* wanted = options(members_[g][0]);
    if (wanted == nullptr) continue;
    functions_[g] = std::make_unique<GroupFunction>(*wanted);
    for (const uint32_t i : members_[g]) functions_[g]->Append(bindings[i]);
  }
}

bool GroupEmitter::any() const {
  return std::any_of(functions_.begin(), functions_.end(), [](const auto& function) { return function != nullptr; });
}

/// Finds which variables cross between groups, and which groups depend on which; completes the groups.
void GroupEmitter::Complete(const std::unordered_map<const Object*, uint32_t>& node_of,
                            const std::function<std::vector<uint32_t>(uint32_t)>& more_dependencies) {
  depends_.assign(members_.size(), {});
  for (uint32_t i = 0; i < bindings_.size(); ++i) {
    const uint32_t user = group_of_[i];
    const auto depend = [&](uint32_t node) {
      const uint32_t producer = group_of_[node];
      if (producer == user) return false;
      if (depends_[user].empty() || depends_[user].back() != producer) depends_[user].push_back(producer);
      return true;
    };
    VisitLeaves(BoundValue(bindings_[i]), [&](const Expr& leaf) {
      if (!IsVar(leaf)) return;
      auto it = node_of.find(leaf.get());
      if (it == node_of.end() || !depend(it->second)) return;
      if (GroupFunction* group = functions_[group_of_[it->second]].get()) group->AddOutput(Downcast<Var>(leaf));
    });
    if (more_dependencies) {
      for (const uint32_t before : more_dependencies(i)) depend(before);
    }
  }
  for (const auto& group : functions_) {
    if (group != nullptr && !group->outputs().empty()) group->Finish();
  }
}

const GroupFunction* GroupEmitter::function(uint32_t group) const {
  const GroupFunction* function = functions_[group].get();
  return function == nullptr || function->outputs().empty() ? nullptr : function;
}

Array<Binding> GroupEmitter::Emit(FusedFunctions* functions) {
  const auto order = TopologicalOrder(
      static_cast<uint32_t>(members_.size()), [this](uint32_t group) -> const auto& { return depends_[group]; });
  Array<Binding> emitted;
  emitted.reserve(static_cast<int64_t>(bindings_.size()));
  for (const uint32_t group : order) {
    if (functions_[group] == nullptr) {
      for (const uint32_t i : members_[group]) emitted.push_back(bindings_[i]);
    } else if (!functions_[group]->outputs().empty()) {
      EmitCall(group, functions, &emitted);
    }
  }
  return emitted;
}

void GroupEmitter::EmitCall(uint32_t number, FusedFunctions* functions, Array<Binding>* emitted) {
  const GroupFunction& group = *functions_[number];
  const GlobalVar callee = functions->Get(group);
  names_[number] = callee->name_hint;
  Array<Expr> arguments;
  for (const Expr& argument : group.arguments()) {
    if (const auto* item = argument.as<TupleGetItemNode>()) {
      std::string name = "item" + std::to_string(item->index);
      if (const auto* tuple = item->tuple.as<VarNode>()) {
        name = std::string(tuple->name_hint) + "_" + std::to_string(item->index);
      }
      DataflowVar var(name, argument.ty());
      emitted->push_back(VarBinding(var, argument));
      arguments.push_back(var);
    } else {
      arguments.push_back(argument);
    }
  }
  const Binding& last = group.bindings().back();
  const auto span = BoundValue(last)->span;
  const Call call(callee, std::move(arguments), Attrs(), {}, span);
  call->ty = group.ReturnType();
  if (group.outputs().size() == 1) {
    emitted->push_back(VarBinding(group.outputs()[0], call, last->span));
    return;
  }
  const bool is_local = last->var->kind == RelaxKind::kDataflowVar;
  const Var tuple = is_local ? Var(DataflowVar("lv", call.ty())) : Var("gv", call.ty());
  emitted->push_back(VarBinding(tuple, call, last->span));
  std::unordered_map<const Object*, int64_t> index;
  for (size_t i = 0; i < group.outputs().size(); ++i) index[group.outputs()[i].get()] = static_cast<int64_t>(i);
  for (const Binding& binding : group.bindings()) {
    auto it = index.find(binding->var.get());
    if (it != index.end()) emitted->push_back(VarBinding(binding->var, TupleGetItem(tuple, it->second)));
  }
}

}  // namespace deuteron::relax::fusion
