/// \file
/// A dataflow block between FuseOps and FuseTIR, whose kernels are merged further.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/transform/fusion/contractible_dag.h"
#include "deuteron/relax/transform/fusion/fused_functions.h"
#include "deuteron/relax/transform/fusion/group_function.h"
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
  int64_t CountKernels(uint32_t root) const { return kernels_[root]; }

  /// What a group reads and writes. Without `flops` of calls that were not summarised.
  struct Traffic {
    KernelCost cost;
    int64_t arguments = 0;
    /// Everything that is read, written or passed on inside, each once.
    double touched = 0;
  };
  const Traffic& Measure(uint32_t root) { return BoundaryOf(root).traffic; }
  /// The same of two groups as one, in time by the size of the smaller.
  Traffic MeasureBoth(uint32_t a, uint32_t b) { return Join(a, b).traffic; }

  /// The function that calls, in order, would be one by one; merges nothing.
  GroupFunction Compose(const std::vector<uint32_t>& calls);
  /// Merges two groups. `root` receives the one that stands for both.
  ContractibleDag::Answer Merge(uint32_t a, uint32_t b, uint32_t* root);
  /// After Merge has found a cycle: a group that it leads through.
  uint32_t in_the_way() const { return dag_.in_the_way(); }

  /// The block with a call of one function for each group of several calls; null if there is none.
  BindingBlock Emit(FusedFunctions* functions);
  /// After Emit: the name of the function of the group; empty if it was not merged.
  String NameOf(uint32_t node) const;

 private:
  /// The tensors that a group reads, by address, with their bytes.
  using Reads = std::vector<std::pair<const Object*, double>>;
  struct Boundary {
    Traffic traffic;
    Reads reads;
  };
  /// What becomes of the boundaries of two groups that are made one.
  struct Joint {
    uint32_t smaller;
    uint32_t greater;
    Traffic traffic;
    /// Bindings of the greater that the smaller reads, with the number of users there; and the other way round.
    std::vector<std::pair<uint32_t, uint32_t>> taken;
    std::vector<uint32_t> given;
  };
  Boundary& BoundaryOf(uint32_t root);
  Joint Join(uint32_t a, uint32_t b);
  /// The boundary of the group that two have become.
  void KeepBoundary(const Joint& joint, uint32_t root);
  /// Whether somebody outside wants the value of a binding, so many of whose users are in its group.
  bool Leaves(uint32_t node, size_t users_inside) const;
  size_t CountUsers(uint32_t node, uint32_t root) const;

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
  /// By group, at the node that stands for it; the boundaries of those that were asked about.
  std::vector<std::vector<uint32_t>> members_;
  std::vector<int64_t> kernels_;
  std::vector<std::unique_ptr<Boundary>> boundaries_;
  /// By binding: its users in its own group, if that has a boundary.
  std::vector<uint32_t> users_inside_;
  std::unordered_map<uint32_t, String> names_;
};

/// `module` with what `merge` makes of the dataflow blocks of its graph-level functions that are not Primitive,
/// Composite or Codegen: the block of function `name` with calls of `functions`, which are added; null keeps it.
IRModule MergeInBlocks(
    const IRModule& module,
    const std::function<BindingBlock(const BindingBlock& block, const String& name, FusedFunctions* functions)>& merge);

}  // namespace deuteron::relax::fusion
