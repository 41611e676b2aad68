/// \file
/// FuseOps: groups calls of kernels into functions that become one kernel each.
///
/// Purpose: intermediate values of a group never reach memory, and one launch replaces many. In every
/// dataflow block the pass builds the forward graph (fusion/forward_graph.h), its post-dominator tree
/// (fusion/dominator_tree.h) and the partition (fusion/graph_partitioner.h), then makes each group of two or
/// more bindings a private function with the attribute Primitive (fusion/group_function.h) and puts its call
/// where the group's bindings stood. Structurally equal groups share one function.
///
/// What it must not do: look inside functions that are Primitive or Codegen (a second run changes nothing
/// there); leave dataflow blocks; group anything but call_tir, call_tir_inplace and projections of tuples;
/// make a variable that is visible outside of the block an inner value of a group.
///
/// Better than TVM unless `tvm_compat`: tuples that are known are looked through first, so that a decomposed
/// batch_norm does not separate a convolution from its activation; a match_cast is a user of its value, and
/// what uses a symbol depends on the match_cast that defines it; kernels whose body is no root block are
/// opaque; the argument limit is enforced. A group without any call is never wrapped.
///
/// Place: after AnnotateTIROpPattern and FoldConstant, before FuseTIR. Every edge's verdict is recorded in
/// the decision log.
#include <algorithm>
#include <unordered_map>

#include "deuteron/relax/analysis/type_analysis.h"
#include "deuteron/relax/op/call.h"
#include "deuteron/relax/transform/fusion/graph_partitioner.h"
#include "deuteron/relax/transform/fusion/group_function.h"
#include "deuteron/relax/transform/pass_utils.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/relax/transform/tuple_simplify.h"

namespace deuteron::relax {
namespace {

using fusion::DominatorTree;
using fusion::ForwardGraph;
using fusion::GroupFunction;
using fusion::Partition;
using fusion::Verdict;
using tir::OpPatternKind;

struct Settings {
  FuseOpsOptions options;
  int opt_level = 2;
  int64_t max_depth = 256;
  int64_t max_arguments = 0;
  bool compat = false;
};

struct KeyHash {
  size_t operator()(const std::vector<int64_t>& key) const {
    uint64_t hash = key.size();
    for (const int64_t word : key) {
      hash ^= static_cast<uint64_t>(word) + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
      hash *= 0xFF51AFD7ED558CCDULL;
    }
    return hash;
  }
};

/// The functions made so far in a module, found by key or, failing that, by structure.
class FusedFunctions {
 public:
  explicit FusedFunctions(const IRModule& module) : names_(module) {
    for (const auto& [var, func] : module->functions) {
      const auto* function = func.as<FunctionNode>();
      const bool comparable = function && function->attrs.defined() && function->attrs->dict.size() == 1 &&
                              function->HasNonzeroAttr("Primitive");
      if (comparable) by_structure_[StructuralHash::Hash(func)].push_back({var, func});
    }
  }

  GlobalVar Get(const GroupFunction& group) {
    auto [it, inserted] = by_key_.try_emplace(group.key());
    if (inserted) it->second = GetByStructure(group);
    return it->second;
  }

  std::vector<std::pair<GlobalVar, BaseFunc>> TakeAdded() { return std::move(added_); }

 private:
  GlobalVar GetByStructure(const GroupFunction& group) {
    const Function function = group.Build({});
    auto& candidates = by_structure_[StructuralHash::Hash(function)];
    for (const auto& [var, existing] : candidates) {
      if (StructurallyEqual(existing, function)) return var;
    }
    GlobalVar var(names_.Unique(group.name()), function.ty());
    candidates.push_back({var, function});
    added_.emplace_back(var, function);
    return var;
  }

  FunctionNames names_;
  std::unordered_map<std::vector<int64_t>, GlobalVar, KeyHash> by_key_;
  std::unordered_map<uint64_t, std::vector<std::pair<GlobalVar, BaseFunc>>> by_structure_;
  std::vector<std::pair<GlobalVar, BaseFunc>> added_;
};

/// Whether the type has a shape whose extents are known before the value is computed.
bool HasKnownShape(const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) return tensor->has_shape();
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), HasKnownShape);
  }
  return true;
}

/// Fuses the dataflow blocks of one function.
class BlockFuser {
 public:
  BlockFuser(const IRModule& module, const Settings& settings, FusedFunctions* functions,
             transform::DecisionLog* log)
      : module_(module), settings_(settings), functions_(functions), log_(log) {}

  Function Fuse(const GlobalVar& name, const Function& function) {
    function_name_ = name->name_hint;
    packed_params_.clear();
    if (const auto num_input = function->GetAttr<int64_t>("num_input")) {
      for (size_t i = *num_input; i < function->params.size(); ++i) packed_params_.insert(function->params[i].get());
    }
    const auto blocks = function->body->blocks.Map([this](const BindingBlock& block) {
      return block->IsInstance<DataflowBlockNode>() ? FuseBlock(block) : block;
    });
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(blocks, function->body->body, function->body->span));
  }

 private:
  BindingBlock FuseBlock(const BindingBlock& block) {
    bindings_ = {block->bindings.begin(), block->bindings.end()};
    ForwardGraph graph = MakeGraph();
    const DominatorTree tree(graph);
    fusion::PartitionOptions options{settings_.opt_level, settings_.max_depth, {}};
    if (settings_.max_arguments > 0) {
      options.exceeds_arguments = [this](const auto& members) { return ExceedsArguments(members); };
    }
    const Partition partition = fusion::PartitionGraph(graph, tree, options);
    MakeGroups(partition);
    const bool fuses = std::any_of(group_.begin(), group_.end(), [](const auto& g) { return g != nullptr; });
    BindingBlock fused = block;
    if (fuses) {
      FindBoundaries();
      fused = DataflowBlock(EmitAll());
    }
    Record(graph, partition);
    return fused;
  }

  // ----- The graph.

  ForwardGraph MakeGraph() {
    ForwardGraph graph;
    node_of_.clear();
    symbol_node_.clear();
    for (uint32_t i = 0; i < bindings_.size(); ++i) {
      const Binding& binding = bindings_[i];
      const OpPatternKind kind = KindOf(binding);
      graph.AddNode(kind, binding->var->kind != RelaxKind::kDataflowVar);
      AddInputs(&graph, i, binding, kind);
      node_of_.emplace(binding->var.get(), i);
    }
    graph.Finish();
    return graph;
  }

  void AddInputs(ForwardGraph* graph, uint32_t node, const Binding& binding, OpPatternKind kind) {
    const auto* cast = binding.as<MatchCastNode>();
    if (!symbol_node_.empty()) AddSymbolEdges(graph, node, binding, kind);
    if (cast != nullptr && settings_.compat) return;
    const TensorTypeNode* result = binding->var.ty().as<TensorTypeNode>();
    VisitLeaves(BoundValue(binding), [&](const Expr& leaf) {
      if (!IsVar(leaf)) return;
      auto it = node_of_.find(leaf.get());
      if (it == node_of_.end()) return;
      graph->AddEdge(it->second, node, EdgeKind(kind, leaf.ty().as<TensorTypeNode>(), result));
    });
    if (cast != nullptr) {
      for (const tir::Var& symbol : DefinedSymbolicVars(cast->ty)) symbol_node_.emplace(symbol.get(), node);
    }
  }

  OpPatternKind EdgeKind(OpPatternKind kind, const TensorTypeNode* from, const TensorTypeNode* to) const {
    if (!settings_.options.relay_rules) return kind;
    if (kind == OpPatternKind::kTuple) return OpPatternKind::kInjective;
    const bool same_shape = kind == OpPatternKind::kBroadcast && from && to && from->has_shape() &&
                            to->has_shape() && ExprEqual(*from->shape, *to->shape);
    return same_shape ? OpPatternKind::kElemWise : kind;
  }

  /// Edges from the match_casts that define symbols to what mentions them.
  void AddSymbolEdges(ForwardGraph* graph, uint32_t node, const Binding& binding, OpPatternKind kind) {
    for (const uint32_t definition : SymbolDefinitions(binding)) graph->AddEdge(definition, node, kind);
  }
  std::vector<uint32_t> SymbolDefinitions(const Binding& binding) const {
    std::vector<uint32_t> definitions;
    const auto note = [&](const tir::Var& var) {
      if (auto it = symbol_node_.find(var.get()); it != symbol_node_.end()) definitions.push_back(it->second);
    };
    for (const tir::Var& var : SymbolicVars(binding->var.ty())) note(var);
    if (const auto* call = BoundValue(binding).as<CallNode>()) {
      for (const Expr& arg : call->args) {
        if (const auto* shape = arg.as<ShapeExprNode>()) {
          for (const PrimExpr& value : shape->values) {
            for (const tir::Var& var : FreeVars(value)) note(var);
          }
        }
      }
    }
    return definitions;
  }

  OpPatternKind KindOf(const Binding& binding) {
    if (!binding->IsInstance<VarBindingNode>()) return OpPatternKind::kOpaque;
    const Expr& value = BoundValue(binding);
    if (const auto* item = value.as<TupleGetItemNode>()) {
      return packed_params_.count(item->tuple.get()) ? OpPatternKind::kOpaque : OpPatternKind::kInjective;
    }
    if (value->kind == RelaxKind::kTuple && settings_.options.relay_rules) return OpPatternKind::kTuple;
    if (!IsAnyCallTIR(value) || !HasKnownShape(binding->var.ty())) return OpPatternKind::kOpaque;
    return KindOfKernel(static_cast<const CallNode*>(value.get())->args[0]);
  }

  OpPatternKind KindOfKernel(const Expr& callee) {
    auto [it, inserted] = kernel_kinds_.try_emplace(callee.get(), OpPatternKind::kOpaque);
    if (!inserted || callee->kind != RelaxKind::kGlobalVar) return it->second;
    const auto func = module_.Lookup(Downcast<GlobalVar>(callee));
    const auto* kernel = func.as<tir::PrimFuncNode>();
    if (kernel == nullptr) return it->second;
    if (!settings_.compat && !tir::HasRootBlock(GetRef<tir::PrimFunc>(kernel))) return it->second;
    const auto kind = kernel->GetAttr<int64_t>("op_pattern");
    if (kind) it->second = static_cast<OpPatternKind>(*kind);
    return it->second;
  }

  /// Distinct values that the group of `members` takes from outside, and its result, against the limit.
  bool ExceedsArguments(const std::vector<uint32_t>& members) const {
    GroupFunction group({});
    for (const uint32_t member : members) group.Append(bindings_[member]);
    group.Finish();
    const auto* results = bindings_[members.back()]->var.ty().as<TupleTypeNode>();
    int64_t count = results ? static_cast<int64_t>(results->fields.size()) : 1;
    for (const Expr& argument : group.arguments()) {
      if (const auto* tuple = argument.ty().as<TupleTypeNode>()) {
        count += static_cast<int64_t>(tuple->fields.size());
      } else if (const auto* shape = argument.ty().as<ShapeTypeNode>()) {
        count += std::max<int64_t>(shape->ndim, 1);
      } else {
        ++count;
      }
    }
    return count > settings_.max_arguments;
  }

  // ----- The groups.

  /// Numbers groups by their first binding; makes a GroupFunction for those that become functions.
  void MakeGroups(const Partition& partition) {
    const auto count = static_cast<uint32_t>(bindings_.size());
    std::vector<uint32_t> number(count, UINT32_MAX);
    group_of_.resize(count);
    members_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t& group = number[partition.group[i]];
      if (group == UINT32_MAX) {
        group = static_cast<uint32_t>(members_.size());
        members_.emplace_back();
      }
      group_of_[i] = group;
      members_[group].push_back(i);
    }
    group_.clear();
    group_.resize(members_.size());
    for (uint32_t g = 0; g < members_.size(); ++g) {
      if (!IsWrapped(members_[g])) continue;
      group_[g] = std::make_unique<GroupFunction>(GroupFunction::Options{});
      for (const uint32_t i : members_[g]) group_[g]->Append(bindings_[i]);
      if (!group_[g]->has_call()) group_[g].reset();
    }
  }

  bool IsWrapped(const std::vector<uint32_t>& members) const {
    if (members.size() > 1) return true;
    return settings_.options.wrap_single && IsAnyCallTIR(BoundValue(bindings_[members[0]]));
  }

  /// Finds which variables cross between groups, and which groups depend on which.
  void FindBoundaries() {
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
        auto it = node_of_.find(leaf.get());
        if (it == node_of_.end() || !depend(it->second)) return;
        if (GroupFunction* group = group_[group_of_[it->second]].get()) group->AddOutput(Downcast<Var>(leaf));
      });
      if (!symbol_node_.empty()) {
        for (const uint32_t definition : SymbolDefinitions(bindings_[i])) depend(definition);
      }
    }
  }

  Array<Binding> EmitAll() {
    const auto order = TopologicalOrder(static_cast<uint32_t>(members_.size()),
                                        [this](uint32_t group) -> const auto& { return depends_[group]; });
    Array<Binding> emitted;
    emitted.reserve(static_cast<int64_t>(bindings_.size()));
    fused_name_.assign(members_.size(), String());
    for (const uint32_t group : order) {
      if (group_[group] == nullptr) {
        for (const uint32_t i : members_[group]) emitted.push_back(bindings_[i]);
      } else if (!group_[group]->outputs().empty()) {
        EmitCall(group, &emitted);
      }
    }
    return emitted;
  }

  void EmitCall(uint32_t number, Array<Binding>* emitted) {
    GroupFunction& group = *group_[number];
    group.Finish();
    const GlobalVar callee = functions_->Get(group);
    fused_name_[number] = callee->name_hint;
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

  // ----- The record.

  void Record(const ForwardGraph& graph, const Partition& partition) {
    static const String pass("FuseOps");
    const auto codes = [](Verdict verdict) {
      static const auto* table = [] {
        auto* codes = new std::vector<std::pair<String, String>>();
        for (int v = 0; v <= static_cast<int>(Verdict::kTooManyArguments); ++v) {
          const auto verdict = static_cast<Verdict>(v);
          codes->emplace_back(fusion::ReasonCode(verdict), fusion::ReasonText(verdict));
        }
        return codes;
      }();
      return (*table)[static_cast<size_t>(verdict)];
    };
    for (uint32_t node = 0; node < graph.size(); ++node) {
      for (const auto& edge : graph.outputs(node)) {
        const bool fused = partition.group[node] == partition.group[edge.to] && group_[group_of_[node]] != nullptr;
        Verdict verdict = fused ? Verdict::kFused : partition.verdict[node];
        if (!fused && verdict == Verdict::kFused) verdict = Verdict::kNotTried;
        if (verdict == Verdict::kOpaqueConsumer && graph.kind(edge.to) != OpPatternKind::kOpaque) {
          verdict = Verdict::kPathBlocked;
        }
        const auto& [code, text] = codes(verdict);
        const Binding& from = bindings_[node];
        const Binding& to = bindings_[edge.to];
        transform::Decision decision;
        decision.pass = pass;
        decision.function = function_name_;
        decision.subject = from->var->name_hint;
        decision.object = to->var->name_hint;
        decision.reason = code;
        decision.message = fused ? fused_name_[group_of_[node]] : text;
        if (fused) decision.figures = {{"group", group_of_[node]}, {"phase", partition.phase[node]}};
        decision.subject_span = SpanOf(from);
        decision.object_span = SpanOf(to);
        log_->Add(std::move(decision));
      }
    }
  }

  static Span SpanOf(const Binding& binding) {
    return binding->span.defined() ? binding->span : BoundValue(binding)->span;
  }

  const IRModule& module_;
  const Settings& settings_;
  FusedFunctions* functions_;
  transform::DecisionLog* log_;
  String function_name_;
  std::unordered_set<const Object*> packed_params_;
  std::unordered_map<const Object*, OpPatternKind> kernel_kinds_;

  // Of the current block:
  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, uint32_t> node_of_;
  std::unordered_map<const Object*, uint32_t> symbol_node_;
  std::vector<uint32_t> group_of_;
  std::vector<std::vector<uint32_t>> members_;
  /// Null for groups that stay as they are.
  std::vector<std::unique_ptr<GroupFunction>> group_;
  std::vector<std::vector<uint32_t>> depends_;
  std::vector<String> fused_name_;
};

IRModule RunFuseOps(IRModule module, const FuseOpsOptions& options, const transform::PassContext& context) {
  Settings settings{options};
  settings.opt_level = options.fuse_opt_level == -1 ? context.opt_level : options.fuse_opt_level;
  settings.max_depth = context.GetInt("relax.FuseOps.max_depth");
  settings.max_arguments = context.GetInt("relax.FuseOps.max_function_args");
  settings.compat = context.GetBool("tvm_compat");
  if (settings.opt_level == 0 && !options.wrap_single) return module;
  if (!settings.compat && !options.relay_rules) module = SimplifyTuples(std::move(module));
  FusedFunctions functions(module);
  const IRModule original = module;
  BlockFuser fuser(original, settings, &functions, context.decisions.get());
  module = UpdateFunctions(std::move(module),
                           [&](const GlobalVar& name, const Function& f) { return fuser.Fuse(name, f); });
  for (auto& [var, func] : functions.TakeAdded()) module.Update(var, std::move(func));
  return module;
}

}  // namespace

Pass FuseOps(FuseOpsOptions options) {
  return transform::ModulePass({.name = "FuseOps"},
                               [options](IRModule module, const transform::PassContext& context) {
                                 return RunFuseOps(std::move(module), options, context);
                               });
}

}  // namespace deuteron::relax
