/// \file
/// What FuseOps writes into the decision log: every operator it saw, every edge's verdict, every group it made.
///
/// | reason | subject → object | figures | message |
/// | --- | --- | --- | --- |
/// | an OpPatternKind's | variable → kernel or operator | node, group if it is in one; of a kernel read and written
/// (bytes), or symbolic | the code of why it is opaque, or, where sizes are symbolic, `read; written` |
/// | a verdict | producer → consumer | from, to (nodes), group and phase if fused, at (node), limit and needed if not |
/// the group's function, or how shapes change |
/// | `group` | last variable → function | group | |
///
/// Nodes and groups are numbered within a function.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/ir/transform/decision_log.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/fusion/fused_functions.h"
#include "deuteron/relax/transform/fusion/graph_partitioner.h"

namespace deuteron::relax::fusion {

/// What is known of a dataflow block when its groups are made.
struct BlockRecord {
  const std::vector<Binding>& bindings;
  const ForwardGraph& graph;
  const Partition& partition;
  /// Why an operator is opaque, where it is not its kernel that says so.
  const std::vector<std::optional<Reason>>& causes;
  const GroupEmitter& emitter;
  int64_t max_depth = 0;
  int64_t max_arguments = 0;
};

/// Records one function.
class FusionRecord {
 public:
  FusionRecord(transform::DecisionLog* log, String function) : log_(log), function_(std::move(function)) {}

  /// Records a dataflow block.
  void AddBlock(const BlockRecord& block);
  /// Records a block that is no dataflow block, with the branches in it.
  void AddPlainBlock(const Array<Binding>& block);

 private:
  void AddNode(const Binding& binding, OpPatternKind kind, std::optional<Reason> cause, int64_t group);
  void AddInputsFromOutside(const Array<Binding>& bindings, int64_t first, bool is_dataflow);
  transform::Decision Edge(const Binding& from, const Binding& to, Reason verdict) const;

  transform::DecisionLog* log_;
  String function_;
  int64_t num_nodes_ = 0;
  int64_t num_groups_ = 0;
  /// Bindings of blocks seen so far, by variable; kept only where the function has several blocks.
  struct Node {
    Binding binding;
    int64_t number;
    bool is_dataflow;
  };
  std::unordered_map<const Object*, Node> nodes_;
};

}  // namespace deuteron::relax::fusion
