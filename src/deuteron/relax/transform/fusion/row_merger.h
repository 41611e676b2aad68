/// \file
/// Merging kernels that compute row by row: what FuseReductions and FuseSiblings have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/transform/fusion/merge_graph.h"

namespace deuteron::relax::fusion {

/// The groups of one block, as they are merged pair by pair, and the verdict on every pair that was asked for.
class RowMerger {
 public:
  /// `pass`: its name in the decision log.
  RowMerger(const BindingBlock& block, RowAnalyzer* analyzer, const tir::CostModel& costs,
            const transform::PassContext& context, const char* pass, String function);
  ~RowMerger();

  const MergeGraph& graph() const { return graph_; }
  bool any_reduction() const;
  /// Whether a call belongs to a group that reduces.
  bool reduces(uint32_t node) const { return groups_[graph_.Find(node)].has_reduction; }
  bool merged(uint32_t a, uint32_t b) const { return graph_.Find(a) == graph_.Find(b); }

  /// Tries to merge the groups of a producer and one of its users: the value between them need not be stored.
  bool TryEdge(uint32_t producer, uint32_t consumer);
  /// Tries to merge the groups of two calls that read the same tensor, their arguments `first_argument` and
  /// `second_argument`: it need not be loaded twice.
  bool TrySiblings(uint32_t first, size_t first_argument, uint32_t second, size_t second_argument);
  /// Forgets the refusals so far: pairs will be asked for again.
  void ForgetRefusals() { refused_.clear(); }

  /// The block with the merged groups as functions, null if there are none; writes the verdicts.
  BindingBlock Finish(FusedFunctions* functions);

 private:
  struct Verdict {
    /// None while nothing stands against it.
    std::optional<transform::Reason> reason = {};
    std::string message = {};
    std::vector<transform::Figure> figures = {};
  };
  /// What is known of a group.
  struct Group {
    /// All its kernels may become part of one that works row by row.
    bool fusable = false;
    bool has_reduction = false;
    bool transposes = false;
    /// Without reductions: the extents of all results, if they are the same.
    std::optional<std::vector<PrimExpr>> space;
  };
  class Composition;
  struct Kept {
    uint32_t root;
    std::unique_ptr<Composition> composition;
  };
  std::vector<Kept>::iterator FindKept(uint32_t root);
  struct Pair {
    uint32_t from;
    uint32_t to;
    Verdict verdict;
  };

  Verdict CheckRowByRow(uint32_t producer, uint32_t consumer) const;
  Verdict CheckSpace(uint32_t a, uint32_t b) const;
  /// Whether the groups of two calls would be one row kernel: `plan`, until the verdict. `shared`: a tensor that has to
  /// be read in step; null if there is none.
  Verdict CheckRows(uint32_t first, uint32_t second, const Object* shared, const tir::RowPlan** plan);
  const tir::RowPlan* Extend(uint32_t a, uint32_t b);
  void KeepTried(uint32_t a, uint32_t b, uint32_t root);
  void ForgetTried();
  /// `plan`: null if both are pointwise, and every element a row of its own.
  Verdict Weigh(uint32_t a, uint32_t b, const tir::RowPlan* plan, bool siblings);
  bool Commit(uint32_t producer, uint32_t consumer, Verdict verdict);
  bool Refuse(uint32_t producer, uint32_t consumer, Verdict verdict);
  void Record(const Pair& pair, bool fused) const;

  MergeGraph graph_;
  const tir::CostModel& costs_;
  transform::DecisionLog* log_;
  const char* pass_;
  String function_;
  const int64_t max_depth_;
  const int64_t max_arguments_;
  /// By group, at the node that stands for it.
  std::vector<Group> groups_;
  /// Groups as they were composed, so that the next attempt need not compose them again; those used last at the end.
  std::vector<Kept> kept_;
  /// What the verdict at hand is about: composed for it, or one of those kept.
  std::unique_ptr<Composition> tried_;
  Composition* extended_ = nullptr;
  std::vector<Pair> fused_;
  std::vector<Pair> refused_;
};

/// Runs `merge` on a RowMerger of every dataflow block that can be handled, and puts the functions that come out into
/// the module. Does nothing under tvm_compat or at level 0.
IRModule MergeRowKernels(IRModule module, const transform::PassContext& context, const char* pass,
                         const std::function<void(RowMerger*)>& merge);

}  // namespace deuteron::relax::fusion
