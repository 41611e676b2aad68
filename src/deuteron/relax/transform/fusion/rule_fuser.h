/// \file
/// What passes share that make one kernel of calls for one rule of the schedule (FuseAttention, FuseWindows,
/// FuseProducts, FuseFollowers): the rule is asked of the kernel that the calls would be, before they are merged.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/transform/fusion/merge_graph.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax::fusion {

/// Who asks, and whom.
struct AskedRule {
  const char* pass;
  /// A name for the kernel that is asked about.
  const char* kernel;
  /// Of what the rule does not take.
  transform::Reason refusal;
  /// Null if the rule takes a function; else why not.
  const char* (*why_not)(const tir::PrimFunc& func, const Target& target);
  /// Of the kernel.
  size_t num_results = 1;
};

/// Calls, in order.
using Calls = std::vector<uint32_t>;
/// By key of a group: why the rule does not take it; empty if it does.
using RuleVerdicts = std::map<std::string, std::string>;

class RuleFuser {
 public:
  RuleFuser(const AskedRule& rule, const BindingBlock& block, const IRModule& module, RowAnalyzer* analyzer,
            RuleVerdicts* verdicts, const transform::PassContext& context, String function);

 protected:
  /// Whether a kernel or function of one tensor was not merged yet.
  bool IsLone(uint32_t node) const;
  bool HasOneUser(uint32_t node) const;

  /// The same, and that is not computed row by row: a product, a convolution, windows.
  bool IsLoneProduct(uint32_t node) const;
  /// Bytes of a tensor that stay in the caches of the threads from one kernel to the next.
  static double KeptBytes();
  /// Calls of the kernel or function that a call calls, its own included.
  int64_t CallsAlike(uint32_t node);

  /// What stands against a kernel.
  struct Verdict {
    std::optional<transform::Reason> reason = {};
    std::string message = {};
    std::vector<transform::Figure> figures = {};
  };
  /// No reason if the kernel that the calls would be is within the limits and the rule takes it.
  Verdict WhyNot(const Calls& calls);
  /// Merges along the edges between the calls, where nothing else uses what is between, so that there is no way around.
  void Merge(const Calls& calls);
  /// Merges a call and the one that has its result, or records why not: where the network is compiled for few runs,
  /// that they would not save the time that it takes to ask.
  void TryPair(uint32_t from, uint32_t to);
  /// A call and one that has its result.
  using UsePair = std::function<void(uint32_t from, uint32_t to)>;
  /// Calls a function with pairs that may be merged, as the graph is then.
  using VisitPairs = std::function<void(const UsePair& use)>;
  /// Asks the rule, in several threads, what TryPair will ask of the pairs.
  void AskAhead(const VisitPairs& visit);
  /// TryPair of all, of which none stays that an earlier one took a call of.
  void TryPairs(const VisitPairs& visit);
  /// Merges two calls, of which one has the other's result, unless there is another way from one to the other.
  void MergeEdge(uint32_t from, uint32_t to);
  /// A verdict on an edge, for the decision log.
  void Record(uint32_t from, uint32_t to, transform::Reason reason, const String& message,
              const std::vector<transform::Figure>& figures = {}) const;
  /// The block with what was merged; null if nothing was.
  BindingBlock Emit(FusedFunctions* functions);

  /// How often what is compiled will run; 0: so often that what it takes to make kernels does not count.
  int64_t expected_runs() const { return expected_runs_; }
  MergeGraph& graph() { return graph_; }
  const MergeGraph& graph() const { return graph_; }

 private:
  /// Whether a kernel of a call and one that has its result saves as much time as it takes to ask for it.
  bool PaysToAsk(uint32_t from);
  /// Why there is no kernel of the calls that the rule could be asked of; if there is, the function that it is of.
  Verdict WhyNoKernel(const Calls& calls, std::optional<GroupFunction>* group);
  /// Why the rule does not take what the group would be; empty if it does.
  std::string Ask(const GroupFunction& group) const;

  const AskedRule rule_;
  const IRModule& module_;
  MergeGraph graph_;
  RuleVerdicts& verdicts_;
  /// By callee; empty until it is asked for.
  std::unordered_map<const Object*, int64_t> calls_;
  transform::DecisionLog* log_;
  const String function_;
  const int64_t max_depth_;
  const int64_t max_arguments_;
  const int64_t expected_runs_;
  std::vector<std::pair<uint32_t, uint32_t>> fused_;
};

/// The pass: a Fuser for each dataflow block.
template <typename Fuser>
IRModule FuseByRule(const IRModule& module, const transform::PassContext& context) {
  if (!transform::MergesBeyondFuseOps(context)) return module;
  RowAnalyzer analyzer(module);
  RuleVerdicts verdicts;
  return MergeInBlocks(module, [&](const BindingBlock& block, const String& name, FusedFunctions* functions) {
    return Fuser(block, module, &analyzer, &verdicts, context, name).Run(functions);
  });
}

}  // namespace deuteron::relax::fusion
