/// \file
/// A directed acyclic graph whose nodes are merged as long as it stays acyclic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace deuteron::relax::fusion {

/// Keeps a topological order while edges are contracted (D. J. Pearce, P. H. J. Kelly, "A dynamic topological sort
/// algorithm for directed acyclic graphs", 2007): whether a merge makes a cycle is searched for only among the nodes
/// that the order puts between the two, and only those that it concerns are ordered anew.
class ContractibleDag {
 public:
  /// Nodes 0..count-1, in topological order.
  explicit ContractibleDag(uint32_t count);
  /// `from` < `to`. Before the first merge.
  void AddEdge(uint32_t from, uint32_t to);

  /// The node that stands for `node` and all that it was merged with.
  uint32_t Find(uint32_t node) const;
  bool Same(uint32_t a, uint32_t b) const { return Find(a) == Find(b); }

  enum class Answer : uint8_t {
    kMerged,
    /// There is a path between them through another node.
    kCycle,
    /// More than kMostVisited nodes would have to be looked at.
    kTooFar,
  };
  /// Merges two nodes, connected or not, unless that makes a cycle.
  Answer Merge(uint32_t a, uint32_t b);
  /// After kCycle: the last node of such a path.
  uint32_t in_the_way() const { return in_the_way_; }

  static constexpr size_t kMostVisited = 1024;

 private:
  enum class Found : uint8_t { kNothing, kPath, kTooMuch };
  Found Search(uint32_t first, uint32_t target, bool forward, std::vector<uint32_t>* reached);
  void Link(uint32_t into, uint32_t other);

  mutable std::vector<uint32_t> parent_;
  std::vector<uint32_t> rank_;
  std::vector<std::vector<uint32_t>> out_;
  std::vector<std::vector<uint32_t>> in_;
  std::vector<uint32_t> seen_;
  uint32_t stamp_ = 0;
  uint32_t in_the_way_ = 0;
};

}  // namespace deuteron::relax::fusion
