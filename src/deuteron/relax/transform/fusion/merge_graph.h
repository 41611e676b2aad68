/// \file
/// A dataflow block between FuseOps and FuseTIR, whose kernels are merged further.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/transform/fusion/contractible_dag.h"
#include "deuteron/relax/transform/fusion/fused_functions.h"
#include "deuteron/relax/transform/fusion/row_kernels.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::relax::fusion {

/// The calls of a block, by number of binding, and the groups that they are merged into. A projection of a call's
/// result belongs to the group of the call.
///
/// What passes share that merge Primitive functions and lone kernels: who uses what, what a group moves through
/// memory, whether a merge would make a cycle, and the block that comes out.
class MergeGraph {
 public:
  /// What mentions a symbol that a match_cast of the block defines stays behind it.
  MergeGraph(const BindingBlock& block, RowAnalyzer* analyzer);

  uint32_t size() const { return static_cast<uint32_t>(bindings_.size()); }
  const Binding& binding(uint32_t node) const { return bindings_[node]; }
  /// Null for what is no call of a kernel or Primitive function.
  const RowSummary* summary(uint32_t node) const { return summaries_[node].get(); }
  /// The bindings that use the variable of a binding, in order, each once.
  const std::vector<uint32_t>& users(uint32_t node) const { return users_[node]; }
  /// A tensor that a call takes: the call that makes it (following projections) and its place there; or neither.
  struct Input {
    const Object* var;
    double bytes;
    uint32_t producer = UINT32_MAX;
    uint32_t result = 0;
  };
  const std::vector<Input>& inputs(uint32_t node) const { return inputs_[node]; }

  uint32_t Find(uint32_t node) const { return dag_.Find(node); }
  /// Calls and projections of the group that `root` stands for, in order.
  const std::vector<uint32_t>& members(uint32_t root) const { return members_[root]; }
  /// Calls in the group.
  size_t CountCalls(uint32_t root) const;
  /// Kernels in the group, those inside of Primitive functions one by one.
  int64_t CountKernels(uint32_t root) const;

  /// What the union of groups reads and writes. Without `flops` of calls that were not summarised.
  struct Traffic {
    KernelCost cost;
    int64_t arguments = 0;
    /// Everything that is read, written or passed on inside, each once.
    double touched = 0;
  };
  Traffic Measure(std::initializer_list<uint32_t> roots) const;

  ContractibleDag::Answer TryMerge(uint32_t a, uint32_t b) { return dag_.TryMerge(a, b); }
  /// Merges two groups. `root` receives the one that stands for both.
  ContractibleDag::Answer Merge(uint32_t a, uint32_t b, uint32_t* root);

  /// The block with a call of one function for each group of several calls; null if there is none.
  BindingBlock Emit(FusedFunctions* functions);
  /// After Emit: the name of the function of the group; empty if it was not merged.
  String NameOf(uint32_t node) const;

 private:
  void AddNode(uint32_t node);
  /// Appends the bindings of a call of a Primitive function, its results bound to the caller's variables.
  void Inline(uint32_t node, const Function& function, std::vector<Binding>* flat);

  RowAnalyzer* analyzer_;
  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, uint32_t> node_of_;
  std::vector<std::shared_ptr<const RowSummary>> summaries_;
  std::vector<std::vector<uint32_t>> users_;
  std::vector<std::vector<Input>> inputs_;
  ContractibleDag dag_;
  std::vector<std::vector<uint32_t>> members_;
  std::unordered_map<uint32_t, String> names_;
};

/// `module` with what `merge` makes of the dataflow blocks of its graph-level functions that are not Primitive,
/// Composite or Codegen: the block of function `name` with calls of `functions`, which are added; null keeps it.
IRModule MergeInBlocks(
    const IRModule& module,
    const std::function<BindingBlock(const BindingBlock& block, const String& name, FusedFunctions* functions)>& merge);

}  // namespace deuteron::relax::fusion
