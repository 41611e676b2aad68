/// \file
/// The graph that fusion works on: one node a binding of a dataflow block, edges from producers to users.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "deuteron/tir/analysis/op_pattern.h"

namespace deuteron::relax::fusion {

using tir::OpPatternKind;

/// Nodes are numbered in order of bindings, which is topological. Parameters and constants have no nodes:
/// nothing is ever fused into or through them.
///
/// Edges are collected in any order by AddEdge and sorted into one array by Finish (two passes, no
/// allocation per node): a million operators take a few tens of MiB.
class ForwardGraph {
 public:
  struct Edge {
    uint32_t to;
    /// The kind of the user, as seen along this edge.
    OpPatternKind kind;
  };

  uint32_t AddNode(OpPatternKind kind, bool extern_ref) {
    kinds_.push_back(kind);
    extern_refs_.push_back(extern_ref);
    return static_cast<uint32_t>(kinds_.size()) - 1;
  }
  void AddEdge(uint32_t from, uint32_t to, OpPatternKind kind) { pending_.push_back({from, {to, kind}}); }
  /// Must be called once, after the last edge. Parallel edges of one kind are merged.
  void Finish();

  uint32_t size() const { return static_cast<uint32_t>(kinds_.size()); }
  OpPatternKind kind(uint32_t node) const { return kinds_[node]; }
  /// Referenced from outside of the block: may only end a group.
  bool extern_ref(uint32_t node) const { return extern_refs_[node]; }
  std::span<const Edge> outputs(uint32_t node) const {
    return {edges_.data() + first_[node], edges_.data() + first_[node + 1]};
  }

 private:
  std::vector<OpPatternKind> kinds_;
  std::vector<bool> extern_refs_;
  std::vector<std::pair<uint32_t, Edge>> pending_;
  std::vector<Edge> edges_;
  std::vector<uint32_t> first_;
};

}  // namespace deuteron::relax::fusion
