#include "deuteron/relax/transform/fusion/merge_graph.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/used_symbols.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/fusion/symbolic_matcher.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax::fusion {

namespace {

/// A call as of another place.
Call At(const Expr& expr, const Span& place) {
  const auto call = Downcast<Call>(expr);
  Call moved(call->op, call->args, call->attrs, call->ty_args, place);
  moved->ty = call.ty();
  return moved;
}

/// The bindings that define symbols, as far as a block has been walked. A match_cast defines those that nothing before
/// it mentions: of the others it says that they are what they are.
class SymbolDefinitions {
 public:
  /// Calls `visit` with the binding of each symbol that `binding` mentions, itself or in what it takes (which functions
  /// that are called mention within), then adds what it defines.
  template <typename Visit>
  void Walk(uint32_t index, const Binding& binding, const Visit& visit) {
    const auto mention = [&](const std::vector<tir::Var>& symbols, bool is_known) {
      for (const tir::Var& symbol : symbols) {
        if (const auto it = defined_by_.find(symbol.get()); it != defined_by_.end()) visit(it->second);
        if (is_known) known_.insert(symbol.get());
      }
    };
    VisitLeaves(BoundValue(binding), [&](const Expr& leaf) {
      if (leaf->kind == RelaxKind::kVar || leaf->kind == RelaxKind::kDataflowVar)
        mention(SymbolicVars(leaf.ty()), true);
    });
    const auto* cast = binding.as<MatchCastNode>();
    mention(UsedSymbols(binding), cast == nullptr);
    if (cast == nullptr) return;
    for (const tir::Var& symbol : DefinedSymbolicVars(cast->ty)) {
      if (known_.insert(symbol.get()).second) defined_by_.emplace(symbol.get(), index);
    }
  }

 private:
  std::unordered_map<const Object*, uint32_t> defined_by_;
  std::unordered_set<const Object*> known_;
};

}  // namespace

MergeGraph::MergeGraph(const BindingBlock& block, RowAnalyzer* analyzer)
    : analyzer_(analyzer),
      bindings_(block->bindings.begin(), block->bindings.end()),
      summaries_(bindings_.size()),
      users_(bindings_.size()),
      inputs_(bindings_.size()),
      dag_(static_cast<uint32_t>(bindings_.size())),
      members_(bindings_.size()),
      kernels_(bindings_.size(), 0),
      boundaries_(bindings_.size()),
      users_inside_(bindings_.size(), 0) {
  SymbolDefinitions symbols;
  for (uint32_t node = 0; node < size(); ++node) {
    AddNode(node);
    symbols.Walk(node, bindings_[node], [&](uint32_t before) { dag_.AddEdge(before, node); });
  }
  for (uint32_t node = 0; node < size(); ++node) {
    // Several results are taken over one by one.
    const Var& var = bindings_[node]->var;
    if (!var.ty().as<TupleTypeNode>()) continue;
    const bool taken_apart = std::all_of(users_[node].begin(), users_[node].end(), [&](uint32_t user) {
      return BoundValue(bindings_[user])->kind == RelaxKind::kTupleGetItem;
    });
    if (!taken_apart || var->kind != RelaxKind::kDataflowVar) summaries_[node] = nullptr;
  }
  for (uint32_t node = 0; node < size(); ++node) {
    if (summaries_[node] != nullptr) kernels_[node] = summaries_[node]->kernels;
  }
  // The order of the graph is that of bindings as long as nothing is merged, so projections come last.
  for (uint32_t node = 0; node < size(); ++node) {
    const auto* item = BoundValue(bindings_[node]).as<TupleGetItemNode>();
    if (item == nullptr) continue;
    const auto tuple = node_of_.find(item->tuple.get());
    if (tuple == node_of_.end() || summaries_[tuple->second] == nullptr) continue;
    uint32_t root = 0;
    Merge(tuple->second, node, &root);
  }
}

void MergeGraph::AddNode(uint32_t node) {
  const Expr& value = BoundValue(bindings_[node]);
  members_[node].assign(1, node);
  node_of_.emplace(bindings_[node]->var.get(), node);
  if (HasKnownShape(bindings_[node]->var.ty())) summaries_[node] = analyzer_->Summarize(value);
  VisitLeaves(value, [&](const Expr& leaf) {
    if (!IsVar(leaf) && leaf->kind != RelaxKind::kConstant) return;
    auto& inputs = inputs_[node];
    const auto it = node_of_.find(leaf.get());
    if (it != node_of_.end()) {
      dag_.AddEdge(it->second, node);
      auto& users = users_[it->second];
      if (users.empty() || users.back() != node) users.push_back(node);
    }
    if (!leaf.ty().as<TensorTypeNode>()) return;
    // Arguments are kept as they are, one that is given twice as well: places count.
    Input input{leaf.get(), AssumedBytes(leaf.ty())};
    if (it != node_of_.end()) {
      input.producer = it->second;
      const auto* item = BoundValue(bindings_[it->second]).as<TupleGetItemNode>();
      if (item != nullptr) {
        const auto tuple = node_of_.find(item->tuple.get());
        input.producer = tuple == node_of_.end() ? UINT32_MAX : tuple->second;
        input.result = static_cast<uint32_t>(item->index);
      }
    }
    inputs.push_back(input);
  });
}

size_t MergeGraph::CountCalls(uint32_t root) const {
  return static_cast<size_t>(std::count_if(members_[root].begin(), members_[root].end(),
                                           [this](uint32_t node) { return summaries_[node] != nullptr; }));
}

size_t MergeGraph::CountUsers(uint32_t node, uint32_t root) const {
  return static_cast<size_t>(
      std::count_if(users_[node].begin(), users_[node].end(), [&](uint32_t user) { return dag_.Find(user) == root; }));
}

bool MergeGraph::Leaves(uint32_t node, size_t users_inside) const {
  return bindings_[node]->var->kind != RelaxKind::kDataflowVar || users_inside < users_[node].size();
}

MergeGraph::Boundary& MergeGraph::BoundaryOf(uint32_t root) {
  auto& boundary = boundaries_[root];
  if (boundary != nullptr) return *boundary;
  boundary = std::make_unique<Boundary>();
  auto& [traffic, reads] = *boundary;
  for (const uint32_t node : members_[root]) {
    if (summaries_[node] != nullptr) traffic.cost.flops += summaries_[node]->flops;
    for (const Input& input : inputs_[node]) {
      const auto it = node_of_.find(input.var);
      if (it == node_of_.end() || dag_.Find(it->second) != root) reads.emplace_back(input.var, input.bytes);
    }
    users_inside_[node] = static_cast<uint32_t>(CountUsers(node, root));
    const Type& type = bindings_[node]->var.ty();
    if (type.as<TupleTypeNode>()) continue;  // its items count
    const double bytes = AssumedBytes(type);
    traffic.touched += bytes;
    if (!Leaves(node, users_inside_[node])) continue;
    traffic.cost.bytes_written += bytes;
    ++traffic.arguments;
  }
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  for (const auto& [var, bytes] : reads) {
    traffic.cost.bytes_read += bytes;
    traffic.touched += bytes;
    ++traffic.arguments;
  }
  return *boundary;
}

MergeGraph::Joint MergeGraph::Join(uint32_t a, uint32_t b) {
  const bool a_is_smaller = members_[a].size() < members_[b].size();
  Joint joint{
      .smaller = a_is_smaller ? a : b, .greater = a_is_smaller ? b : a, .traffic = {}, .taken = {}, .given = {}};
  const auto& [own, own_reads] = BoundaryOf(joint.smaller);
  const auto& [other, other_reads] = BoundaryOf(joint.greater);
  Traffic& traffic = joint.traffic;
  traffic.cost.flops = own.cost.flops + other.cost.flops;
  traffic.cost.bytes_read = own.cost.bytes_read + other.cost.bytes_read;
  traffic.cost.bytes_written = own.cost.bytes_written + other.cost.bytes_written;
  traffic.arguments = own.arguments + other.arguments;
  traffic.touched = own.touched + other.touched;
  const auto drop_read = [&](double bytes) {
    traffic.cost.bytes_read -= bytes;
    traffic.touched -= bytes;
    --traffic.arguments;
  };
  const auto drop_write = [&](uint32_t node) {
    traffic.cost.bytes_written -= AssumedBytes(bindings_[node]->var.ty());
    --traffic.arguments;
  };
  const auto is_read_by_other = [&, &reads = other_reads](const Object* var) {
    const auto it = std::lower_bound(reads.begin(), reads.end(), var,
                                     [](const auto& entry, const Object* at) { return entry.first < at; });
    return it != reads.end() && it->first == var;
  };
  struct Uses {
    uint32_t count = 0;
    uint32_t last = UINT32_MAX;
  };
  std::unordered_map<const Object*, Uses> uses;
  for (const uint32_t node : members_[joint.smaller]) {
    for (const Input& input : inputs_[node]) {
      Uses& of_var = uses[input.var];
      of_var.count += of_var.last != node;
      of_var.last = node;
    }
  }
  for (const auto& [var, bytes] : own_reads) {
    const auto it = node_of_.find(var);
    if (it != node_of_.end() && dag_.Find(it->second) == joint.greater) {
      const uint32_t node = it->second;
      const uint32_t count = uses.at(var).count;
      joint.taken.emplace_back(node, count);
      drop_read(bytes);
      if (!Leaves(node, users_inside_[node] + count)) drop_write(node);
    } else if (is_read_by_other(var)) {
      drop_read(bytes);
    }
  }
  for (const uint32_t node : members_[joint.smaller]) {
    const Var& var = bindings_[node]->var;
    if (!is_read_by_other(var.get())) continue;
    joint.given.push_back(node);
    drop_read(AssumedBytes(var.ty()));
    // There are at most as many users as calls.
    if (Leaves(node, users_inside_[node] + members_[joint.greater].size())) continue;
    if (!Leaves(node, users_inside_[node] + CountUsers(node, joint.greater))) drop_write(node);
  }
  return joint;
}

void MergeGraph::KeepBoundary(const Joint& joint, uint32_t root) {
  const Reads smaller = std::move(boundaries_[joint.smaller]->reads);
  const Reads greater = std::move(boundaries_[joint.greater]->reads);
  boundaries_[joint.smaller] = nullptr;
  boundaries_[joint.greater] = nullptr;
  auto boundary = std::make_unique<Boundary>();
  boundary->traffic = joint.traffic;
  std::set_union(smaller.begin(), smaller.end(), greater.begin(), greater.end(), std::back_inserter(boundary->reads));
  std::unordered_set<const Object*> inside;
  for (const auto& [node, count] : joint.taken) {
    inside.insert(bindings_[node]->var.get());
    users_inside_[node] += count;
  }
  for (const uint32_t node : joint.given) {
    inside.insert(bindings_[node]->var.get());
    users_inside_[node] = static_cast<uint32_t>(CountUsers(node, root));
  }
  if (!inside.empty()) std::erase_if(boundary->reads, [&](const auto& read) { return inside.count(read.first) > 0; });
  boundaries_[root] = std::move(boundary);
}

GroupFunction MergeGraph::Compose(const std::vector<uint32_t>& calls) {
  std::vector<Binding> flat;
  for (const uint32_t node : calls) {
    const Function callee = analyzer_->PrimitiveCallee(BoundValue(bindings_[node]));
    if (callee.defined()) {
      Inline(node, callee, &flat);
    } else {
      flat.push_back(bindings_[node]);
    }
  }
  GroupFunction group{GroupFunction::Options()};
  for (const Binding& binding : flat) group.Append(binding);
  for (const uint32_t node : calls) {
    const auto outside = [&](uint32_t user) { return std::find(calls.begin(), calls.end(), user) == calls.end(); };
    if (std::any_of(users_[node].begin(), users_[node].end(), outside)) group.AddOutput(bindings_[node]->var);
  }
  group.Finish();
  return group;
}

ContractibleDag::Answer MergeGraph::Merge(uint32_t a, uint32_t b, uint32_t* root) {
  a = dag_.Find(a);
  b = dag_.Find(b);
  *root = a;
  if (a == b) return ContractibleDag::Answer::kMerged;
  std::optional<Joint> joint;
  if (boundaries_[a] != nullptr && boundaries_[b] != nullptr) joint = Join(a, b);
  const auto answer = dag_.Merge(a, b);
  if (answer != ContractibleDag::Answer::kMerged) return answer;
  *root = dag_.Find(a);
  std::vector<uint32_t> all;
  std::merge(members_[a].begin(), members_[a].end(), members_[b].begin(), members_[b].end(), std::back_inserter(all));
  members_[a] = {};
  members_[b] = {};
  members_[*root] = std::move(all);
  kernels_[*root] = kernels_[a] + kernels_[b];
  if (joint) {
    KeepBoundary(*joint, *root);
  } else {
    boundaries_[a] = nullptr;
    boundaries_[b] = nullptr;
  }
  return answer;
}

BindingBlock MergeGraph::Emit(FusedFunctions* functions) {
  std::vector<Binding> flat;
  std::vector<uint32_t> group;
  std::unordered_map<uint32_t, uint32_t> first;  // of each merged group: its first flat binding
  std::vector<uint32_t> begin(size());
  bool any = false;
  for (uint32_t node = 0; node < size(); ++node) {
    begin[node] = static_cast<uint32_t>(flat.size());
    const uint32_t root = dag_.Find(node);
    const bool merged = CountCalls(root) > 1;
    any |= merged;
    const Function callee = merged ? analyzer_->PrimitiveCallee(BoundValue(bindings_[node])) : Function();
    if (callee.defined()) {
      Inline(node, callee, &flat);
      // Functions that are equal are one, whose places are those of the first: the call knows whose node may fail here.
      const Span& place = BoundValue(bindings_[node])->span;
      for (size_t i = begin[node]; i < flat.size() && place.defined(); ++i) {
        if (functions->MayFail(flat[i])) flat[i] = VarBinding(flat[i]->var, At(BoundValue(flat[i]), place), place);
      }
    } else {
      // A projection of a call that was inlined is bound already, unless the result is a tuple by name.
      const auto* item = BoundValue(bindings_[node]).as<TupleGetItemNode>();
      const auto tuple = item ? node_of_.find(item->tuple.get()) : node_of_.end();
      const Function inlined = merged && tuple != node_of_.end()
                                   ? analyzer_->PrimitiveCallee(BoundValue(bindings_[tuple->second]))
                                   : Function();
      const bool bound = inlined.defined() && inlined->body->body->kind == RelaxKind::kTuple;
      if (!bound) flat.push_back(bindings_[node]);
    }
    for (uint32_t i = begin[node]; i < flat.size(); ++i) {
      group.push_back(merged ? first.try_emplace(root, i).first->second : i);
    }
  }
  if (!any) return BindingBlock();
  PointerMap<uint32_t> flat_node_of;
  for (uint32_t i = 0; i < flat.size(); ++i) flat_node_of[flat[i]->var.get()] = i;
  const auto binding_of = [&](const Object* var) {
    const uint32_t* node = flat_node_of.Find(var);
    return node == nullptr ? UINT32_MAX : *node;
  };
  std::unordered_map<uint32_t, std::vector<uint32_t>> after;
  SymbolDefinitions symbols;
  for (uint32_t i = 0; i < flat.size(); ++i) {
    symbols.Walk(i, flat[i], [&](uint32_t before) { after[i].push_back(before); });
  }
  GroupEmitter emitter(flat, group, GroupEmitter::Wrapping{});
  emitter.Complete(binding_of, [&](uint32_t i) {
    const auto it = after.find(i);
    return it == after.end() ? std::vector<uint32_t>() : it->second;
  });
  const Array<Binding> emitted = emitter.Emit(functions);
  for (const auto& [root, at] : first) names_[root] = emitter.name(emitter.group_of(at));
  return DataflowBlock(emitted);
}

String MergeGraph::NameOf(uint32_t node) const {
  const auto it = names_.find(dag_.Find(node));
  return it == names_.end() ? String() : it->second;
}

void MergeGraph::Inline(uint32_t node, const Function& function, std::vector<Binding>* flat) {
  const Binding& binding = bindings_[node];
  const auto call = Downcast<Call>(BoundValue(binding));
  VarReplacer replacer;
  arith::Analyzer analyzer;
  SymbolicMatcher symbols;
  bool symbolic = false;
  for (size_t i = 0; i < function->params.size(); ++i) {
    const Var& param = function->params[static_cast<int64_t>(i)];
    const Expr& argument = call->args[static_cast<int64_t>(i)];
    replacer.Set(param, argument);
    symbolic |= !SymbolicVars(param.ty()).empty();
    symbols.Match(param.ty(), argument.ty());
  }
  if (symbolic) {
    DEUTERON_CHECK(symbols.Solve(&analyzer)) << "the call of a function that was summarised does not match it";
    for (const auto& [var, value] : symbols.values()) replacer.SetSymbol(var, value);
  }
  // The results take the caller's variables: that of the call, or those of its projections.
  std::unordered_map<const Object*, Var> results;
  std::vector<std::pair<Var, const Object*>> aliases;
  const auto take = [&](const Expr& inner, const Var& outer) {
    if (!results.try_emplace(inner.get(), outer).second) aliases.emplace_back(outer, inner.get());
  };
  if (const auto* tuple = function->body->body.as<TupleNode>()) {
    for (const uint32_t user : users_[node]) {
      const auto* item = BoundValue(bindings_[user]).as<TupleGetItemNode>();
      DEUTERON_CHECK(item != nullptr) << "the results of a kernel are used as a tuple";
      take(tuple->fields[item->index], bindings_[user]->var);
    }
  } else {
    take(function->body->body, binding->var);
  }
  for (const BindingBlock& block : function->body->blocks) {
    for (const Binding& inner : block->bindings) {
      const auto result = results.find(inner->var.get());
      const Expr value = replacer.Replace(BoundValue(inner));
      const Span span = inner->span.defined() ? inner->span : binding->span;
      Var var = result != results.end()
                    ? result->second
                    : Var(DataflowVar(inner->var->name_hint, replacer.Replace(inner->var.ty()), inner->var->span));
      replacer.Set(inner->var, var);
      flat->push_back(VarBinding(std::move(var), value, span));
    }
  }
  for (const auto& [outer, inner] : aliases) flat->push_back(VarBinding(outer, results.at(inner)));
}

IRModule MergeInBlocks(const IRModule& module,
                       const std::function<BindingBlock(const BindingBlock& block, const String& name,
                                                        FusedFunctions* functions)>& merge) {
  FusedFunctions functions(module);
  IRModule result = UpdateFunctions(module, [&](const GlobalVar& name, const Function& function) {
    const auto blocks = function->body->blocks.Map([&](const BindingBlock& block) {
      if (!block->IsInstance<DataflowBlockNode>()) return block;
      const BindingBlock merged = merge(block, name->name_hint, &functions);
      return merged.defined() ? merged : block;
    });
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(blocks, function->body->body, function->body->span));
  });
  for (auto& [var, func] : functions.TakeAdded()) result.Update(var, std::move(func));
  return result;
}

}  // namespace deuteron::relax::fusion
