#include "deuteron/relax/transform/fusion/fused_functions.h"

#include <algorithm>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/expr_kind.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/structure_hash.h"
#include "deuteron/tir/functor.h"

namespace deuteron::relax::fusion {
namespace {

/// Whether elements of a tensor that the run brings may make `func` fail.
bool FailsByElements(const tir::PrimFunc& func) {
  bool fails = false;
  PostOrderVisit(func->body, [&](const ObjectRef& node) {
    if (fails) return;
    if (node.as<tir::AssertStmtNode>() != nullptr) {
      fails = true;
    } else if (const auto* op = node.as<tir::BinaryNode>(); op && IsDivision(op->kind) && !op->dtype.is_float()) {
      PostOrderVisit(op->b, [&](const PrimExpr& part) { fails |= part->kind == ExprKind::kBufferLoad; });
    }
  });
  return fails;
}

/// Where a kernel of these bindings is: at the last one or, since what the run says of a value that a kernel cannot use
/// is to name the node that uses it, at those that may fail.
Span PlaceOf(const std::vector<Binding>& bindings, const FusedFunctions& functions) {
  std::vector<Span> places;
  for (const Binding& binding : bindings) {
    const Span& place = BoundValue(binding)->span;
    if (!place.defined() || !functions.MayFail(binding)) continue;
    const auto same = [&](const Span& other) { return other->source == place->source; };
    if (std::none_of(places.begin(), places.end(), same)) places.push_back(place);
  }
  if (places.empty()) return BoundValue(bindings.back())->span;
  if (places.size() == 1) return places[0];
  std::string sources;
  for (const Span& place : places) sources += (sources.empty() ? "" : ", ") + std::string(place->source);
  return Span(sources);
}

}  // namespace

FusedFunctions::FusedFunctions(const IRModule& module, Finish finish)
    : module_(module), names_(module), finish_(std::move(finish)) {}

void FusedFunctions::IndexModule() {
  is_indexed_ = true;
  for (const auto& [var, func] : module_->functions) {
    const auto* function = func.as<FunctionNode>();
    const bool comparable = function && function->attrs.defined() && function->attrs->dict.size() == 1 &&
                            function->HasNonzeroAttr("Primitive");
    if (comparable) by_structure_[StructureHash(GetRef<Function>(function))].push_back({var, func});
  }
}

GlobalVar FusedFunctions::Get(const GroupFunction& group) {
  auto [it, inserted] = by_key_.try_emplace(group.key());
  if (inserted) it->second = GetByStructure(group);
  return it->second;
}

GlobalVar FusedFunctions::GetByStructure(const GroupFunction& group) {
  if (!is_indexed_) IndexModule();
  const Function function = group.Build();
  auto& candidates = by_structure_[StructureHash(function)];
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

bool FusedFunctions::MayFail(const Binding& binding) const {
  const Expr value = BoundValue(binding);
  if (!IsAnyCallTIR(value)) return false;
  const auto var = Downcast<GlobalVar>(static_cast<const CallNode*>(value.get())->args[0]);
  const auto [may_fail, is_new] = may_fail_.Insert(var.get());
  if (is_new) {
    const auto kernel = As<tir::PrimFunc>(module_.Lookup(var));
    *may_fail = kernel.defined() && FailsByElements(kernel);
  }
  return *may_fail;
}

void GroupEmitter::AddMembers(const std::vector<uint32_t>& group) {
  const auto count = static_cast<uint32_t>(bindings_.size());
  std::vector<uint32_t> number(count, UINT32_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t& mine = number[group[i]];
    if (mine == UINT32_MAX) {
      mine = static_cast<uint32_t>(first_member_.size());
      first_member_.push_back(0);
    }
    group_of_[i] = mine;
    ++first_member_[mine];
  }
  options_.resize(first_member_.size(), nullptr);
  // Counting sort: sizes become ends, and ends, filled from the back, begins.
  first_member_.push_back(0);
  uint32_t end = 0;
  for (uint32_t& size : first_member_) size = end += size;
  members_.resize(count);
  for (uint32_t i = count; i-- > 0;) members_[--first_member_[group_of_[i]]] = i;
}

GroupEmitter::GroupEmitter(const std::vector<Binding>& bindings, const std::vector<uint32_t>& group,
                           const Wrapping& wrapping)
    : bindings_(bindings), group_of_(bindings.size()) {
  static const auto* const options = new GroupFunction::Options();
  AddMembers(group);
  for (uint32_t g = 0; g < num_groups(); ++g) {
    const auto all = members(g);
    if (all.size() == 1 && !(wrapping.single_calls && IsAnyCallTIR(BoundValue(bindings[all[0]])))) continue;
    const bool has_call = std::any_of(all.begin(), all.end(),
                                      [&](uint32_t i) { return BoundValue(bindings[i])->kind == RelaxKind::kCall; });
    if (has_call || wrapping.projections) options_[g] = options;
  }
}

GroupEmitter::GroupEmitter(const std::vector<Binding>& bindings, const std::vector<uint32_t>& group,
                           const std::function<const GroupFunction::Options*(uint32_t first)>& options)
    : bindings_(bindings), group_of_(bindings.size()) {
  AddMembers(group);
  for (uint32_t g = 0; g < num_groups(); ++g) options_[g] = options(members(g)[0]);
}

bool GroupEmitter::any() const {
  return std::any_of(options_.begin(), options_.end(), [](const auto* options) { return options != nullptr; });
}

/// Finds which variables cross between groups, and which groups depend on which.
void GroupEmitter::Complete(const BindingOf& binding_of,
                            const std::function<std::vector<uint32_t>(uint32_t)>& more_dependencies) {
  depends_.assign(num_groups(), {});
  used_outside_.assign(num_groups(), {});
  std::vector<bool> noted(bindings_.size());
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
      const uint32_t node = binding_of(leaf.get());
      if (node == UINT32_MAX || !depend(node)) return;
      const uint32_t producer = group_of_[node];
      if (!is_function(producer) || noted[node]) return;
      noted[node] = true;
      used_outside_[producer].push_back(node);
    });
    if (more_dependencies) {
      for (const uint32_t before : more_dependencies(i)) depend(before);
    }
  }
}

std::optional<GroupFunction> GroupEmitter::function(uint32_t group) const {
  if (!is_function(group)) return std::nullopt;
  GroupFunction function(*options_[group]);
  for (const uint32_t i : members(group)) function.Append(bindings_[i]);
  if (!used_outside_.empty()) {
    for (const uint32_t i : used_outside_[group]) function.AddOutput(bindings_[i]->var);
  }
  if (function.outputs().empty()) return std::nullopt;
  function.Finish();
  return function;
}

Array<Binding> GroupEmitter::Emit(FusedFunctions* functions) {
  const auto order = TopologicalOrder(
      num_groups(), [this](uint32_t group) -> const auto& { return depends_[group]; });
  depends_ = {};
  names_.resize(num_groups());
  Array<Binding> emitted;
  emitted.reserve(static_cast<int64_t>(bindings_.size()));
  for (const uint32_t group : order) {
    if (is_function(group)) {
      EmitCall(group, functions, &emitted);
    } else {
      for (const uint32_t i : members(group)) emitted.push_back(bindings_[i]);
    }
  }
  return emitted;
}

void GroupEmitter::EmitCall(uint32_t number, FusedFunctions* functions, Array<Binding>* emitted) {
  const std::optional<GroupFunction> made = function(number);
  if (!made) return;
  const GroupFunction& group = *made;
  const GlobalVar callee = functions->Get(group);
  names_[number] = callee->name_hint;
  std::vector<Expr> arguments;
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
  const Span span = PlaceOf(group.bindings(), *functions);
  const Call call(callee, arguments, Attrs(), kEmpty, span);
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
