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
#include <optional>
#include <unordered_map>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/used_symbols.h"
#include "deuteron/relax/transform/cleanup/tuple_simplify.h"
#include "deuteron/relax/transform/fusion/fused_functions.h"
#include "deuteron/relax/transform/fusion/fusion_record.h"
#include "deuteron/relax/transform/fusion/graph_partitioner.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax {
namespace {

using fusion::DominatorTree;
using fusion::ForwardGraph;
using fusion::FusedFunctions;
using fusion::GroupEmitter;
using fusion::GroupFunction;
using fusion::HasKnownShape;
using fusion::Partition;
using fusion::Reason;
using tir::OpPatternKind;

struct Settings {
  FuseOpsOptions options;
  int opt_level = 2;
  int64_t max_depth = 256;
  int64_t max_arguments = 0;
  bool compat = false;
};

/// Fuses the dataflow blocks of one function.
class BlockFuser {
 public:
  BlockFuser(const IRModule& module, const Settings& settings, FusedFunctions* functions, transform::DecisionLog* log)
      : module_(module), settings_(settings), functions_(functions), log_(log) {}

  Function Fuse(const GlobalVar& name, const Function& function) {
    fusion::FusionRecord record(log_, name->name_hint);
    record_ = &record;
    packed_params_.clear();
    known_symbols_.clear();
    for (const Var& param : function->params) NoteSymbols(param.ty());
    if (const auto num_input = function->GetAttr<int64_t>("num_input")) {
      for (size_t i = *num_input; i < function->params.size(); ++i) packed_params_.insert(function->params[i].get());
    }
    const auto blocks = function->body->blocks.Map([&](const BindingBlock& block) {
      BindingBlock fused = block;
      if (block->IsInstance<DataflowBlockNode>()) {
        fused = FuseBlock(block);
      } else {
        record.AddPlainBlock(block->bindings);
      }
      for (const Binding& binding : block->bindings) {
        if (const auto* cast = binding.as<MatchCastNode>()) NoteSymbols(cast->ty);
      }
      return fused;
    });
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(blocks, function->body->body, function->body->span));
  }

 private:
  BindingBlock FuseBlock(const BindingBlock& block) {
    bindings_ = {block->bindings.begin(), block->bindings.end()};
    ForwardGraph graph = MakeGraph();
    const DominatorTree tree(graph);
    const fusion::PartitionOptions options{settings_.opt_level, settings_.max_depth, settings_.max_arguments,
                                           [this](const auto& members) { return CountArguments(members); }};
    const Partition partition = fusion::PartitionGraph(graph, tree, options);
    GroupEmitter emitter(bindings_, partition.group, {settings_.options.wrap_single, settings_.compat});
    BindingBlock fused = block;
    if (emitter.any()) {
      const auto symbols = [this](uint32_t node) { return SymbolDefinitions(bindings_[node]); };
      using More = std::function<std::vector<uint32_t>(uint32_t)>;
      emitter.Complete([this](const Object* var) { return NodeOf(var); },
                       symbol_node_.empty() ? More() : More(symbols));
      fused = DataflowBlock(emitter.Emit(functions_));
    }
    record_->AddBlock({bindings_, graph, partition, causes_, emitter, settings_.max_depth, settings_.max_arguments});
    return fused;
  }

  // ----- The graph.

  ForwardGraph MakeGraph() {
    ForwardGraph graph;
    node_of_.Clear();
    symbol_node_.clear();
    causes_.clear();
    node_of_.Reserve(bindings_.size());
    causes_.reserve(bindings_.size());
    for (uint32_t i = 0; i < bindings_.size(); ++i) {
      const Binding& binding = bindings_[i];
      std::optional<Reason> cause;
      const OpPatternKind kind = KindOf(binding, &cause);
      causes_.push_back(cause);
      graph.AddNode(kind, binding->var->kind != RelaxKind::kDataflowVar);
      AddInputs(&graph, i, binding, kind);
      node_of_[binding->var.get()] = i;
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
      const uint32_t from = NodeOf(leaf.get());
      if (from != UINT32_MAX) graph->AddEdge(from, node, EdgeKind(kind, leaf.ty().as<TensorTypeNode>(), result));
    });
    if (cast != nullptr) {
      // A symbol that is known already is compared with, not defined.
      for (const tir::Var& symbol : DefinedSymbolicVars(cast->ty)) {
        if (!known_symbols_.count(symbol.get())) symbol_node_.emplace(symbol.get(), node);
      }
    }
  }

  /// UINT32_MAX for a variable of another block.
  uint32_t NodeOf(const Object* var) const {
    const uint32_t* node = node_of_.Find(var);
    return node == nullptr ? UINT32_MAX : *node;
  }

  OpPatternKind EdgeKind(OpPatternKind kind, const TensorTypeNode* from, const TensorTypeNode* to) const {
    if (!settings_.options.relay_rules) {
      return !settings_.compat && ChangesExtents(kind, from, to) ? OpPatternKind::kInjective : kind;
    }
    if (kind == OpPatternKind::kTuple) return OpPatternKind::kInjective;
    const bool same_shape = kind == OpPatternKind::kBroadcast && from && to && from->has_shape() && to->has_shape() &&
                            ExprEqual(*from->shape, *to->shape);
    return same_shape ? OpPatternKind::kElemWise : kind;
  }

  /// Whether an elementwise kernel has more or fewer elements along an axis than it reads there: it pads behind them,
  /// or leaves some out. What follows a complex operator is computed a tile at a time, so that each has its elements.
  static bool ChangesExtents(OpPatternKind kind, const TensorTypeNode* from, const TensorTypeNode* to) {
    if (kind != OpPatternKind::kElemWise || !from || !to || !from->has_shape() || !to->has_shape()) return false;
    const Array<PrimExpr> in = *from->shape;
    const Array<PrimExpr> out = *to->shape;
    if (in.size() != out.size()) return false;
    for (size_t axis = 0; axis < in.size(); ++axis) {
      const auto at = static_cast<int64_t>(axis);
      if (!ExprEqual(in[at], out[at]) && AsConstInt(in[at]) != 1) return true;
    }
    return false;
  }

  void NoteSymbols(const Type& type) {
    for (const tir::Var& symbol : DefinedSymbolicVars(type)) known_symbols_.insert(symbol.get());
  }

  /// Edges from the match_casts that define symbols to what mentions them.
  void AddSymbolEdges(ForwardGraph* graph, uint32_t node, const Binding& binding, OpPatternKind kind) {
    for (const uint32_t definition : SymbolDefinitions(binding)) graph->AddEdge(definition, node, kind);
  }
  std::vector<uint32_t> SymbolDefinitions(const Binding& binding) const {
    std::vector<uint32_t> definitions;
    for (const tir::Var& var : UsedSymbols(binding)) {
      if (auto it = symbol_node_.find(var.get()); it != symbol_node_.end()) definitions.push_back(it->second);
    }
    return definitions;
  }

  OpPatternKind KindOf(const Binding& binding, std::optional<Reason>* cause) {
    const auto opaque = [cause](Reason why) {
      *cause = why;
      return OpPatternKind::kOpaque;
    };
    if (!binding->IsInstance<VarBindingNode>()) return opaque(Reason::kMatchCast);
    const Expr& value = BoundValue(binding);
    if (const auto* item = value.as<TupleGetItemNode>()) {
      if (packed_params_.count(item->tuple.get())) return opaque(Reason::kPackedWeights);
      return OpPatternKind::kInjective;
    }
    if (value->kind == RelaxKind::kTuple && settings_.options.relay_rules) return OpPatternKind::kTuple;
    if (!IsAnyCallTIR(value)) return opaque(Reason::kNotAKernel);
    if (!HasKnownShape(binding->var.ty())) return opaque(Reason::kUnknownShape);
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

  /// Distinct values that the group of `members` takes from outside, and its results.
  int64_t CountArguments(const std::vector<uint32_t>& members) const {
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
    return count;
  }

  const IRModule& module_;
  const Settings& settings_;
  FusedFunctions* functions_;
  transform::DecisionLog* log_;
  fusion::FusionRecord* record_ = nullptr;
  std::unordered_set<const Object*> packed_params_;
  /// Symbols that parameters and earlier blocks define.
  std::unordered_set<const Object*> known_symbols_;
  std::unordered_map<const Object*, OpPatternKind> kernel_kinds_;

  // Of the current block:
  std::vector<Binding> bindings_;
  PointerMap<uint32_t> node_of_;
  std::unordered_map<const Object*, uint32_t> symbol_node_;
  std::vector<std::optional<Reason>> causes_;
};

IRModule RunFuseOps(IRModule module, const FuseOpsOptions& options, const transform::PassContext& context) {
  Settings settings{options};
  settings.opt_level = options.fuse_opt_level;
  if (settings.opt_level == -1) settings.opt_level = static_cast<int>(context.GetInt("relax.FuseOps.fuse_opt_level"));
  if (settings.opt_level == -1) settings.opt_level = context.opt_level;
  settings.max_depth = context.GetInt("relax.FuseOps.max_depth");
  settings.max_arguments = context.GetInt("relax.FuseOps.max_function_args");
  settings.compat = transform::AsTVM(context);
  const bool fuses = settings.opt_level > 0 || options.wrap_single;
  if (fuses && !settings.compat && !options.relay_rules) module = SimplifyTuples(std::move(module));
  FusedFunctions functions(module);
  const IRModule original = module;
  BlockFuser fuser(original, settings, &functions, context.decisions.get());
  module =
      UpdateFunctions(std::move(module), [&](const GlobalVar& name, const Function& f) { return fuser.Fuse(name, f); });
  for (auto& [var, func] : functions.TakeAdded()) module.Update(var, std::move(func));
  return module;
}

}  // namespace

Pass FuseOps(FuseOpsOptions options) {
  return transform::ModulePass({.name = "FuseOps"}, [options](IRModule module, const transform::PassContext& context) {
    return RunFuseOps(std::move(module), options, context);
  });
}

}  // namespace deuteron::relax
