#include "deuteron/relax/transform/fusion/contractible_dag.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "deuteron/relax/transform/fusion/group_order.h"

namespace deuteron::relax::fusion {
namespace {

using Answer = ContractibleDag::Answer;

TEST(ContractibleDag, RefusesPathsThroughOthers) {
  ContractibleDag dag(4);  // 0 → 1 → 3, 0 → 3, 2 alone
  dag.AddEdge(0, 1);
  dag.AddEdge(0, 3);
  dag.AddEdge(1, 3);
  EXPECT_EQ(dag.Merge(0, 3), Answer::kCycle);
  EXPECT_EQ(dag.in_the_way(), 1U);
  EXPECT_EQ(dag.Merge(2, 3), Answer::kMerged);
  EXPECT_EQ(dag.Merge(0, 2), Answer::kCycle);
  EXPECT_EQ(dag.Merge(0, 1), Answer::kMerged);
  EXPECT_EQ(dag.Merge(0, 3), Answer::kMerged);
  EXPECT_TRUE(dag.Same(1, 2));
}

TEST(ContractibleDag, GivesUpFarAway) {
  const auto count = static_cast<uint32_t>(2 * ContractibleDag::kMostVisited);
  ContractibleDag dag(count);
  for (uint32_t i = 1; i + 1 < count; ++i) dag.AddEdge(0, i);
  EXPECT_EQ(dag.Merge(0, count - 1), Answer::kTooFar);
}

/// 1 uses 0 and comes after the contracted {0, 3}, which needs 2: then 1 and 2 are apart for good.
TEST(GroupOrder, WhatUsesASetComesAfterAllOfIt) {
  GroupOrder order(4);
  order.AddEdge(0, 1);
  order.AddEdge(2, 3);
  EXPECT_EQ(order.Contract({0, 3}), GroupOrder::kNone);
  EXPECT_EQ(order.Contract({1, 2}), 3U);
}

/// Whether merging makes a cycle, found without any order.
class PlainGraph {
 public:
  explicit PlainGraph(uint32_t count) : label_(count) {
    for (uint32_t i = 0; i < count; ++i) label_[i] = i;
  }
  void AddEdge(uint32_t from, uint32_t to) { edges_.emplace(from, to); }
  bool MergeMakesCycle(uint32_t a, uint32_t b) const {
    return Around(label_[a], label_[b]) || Around(label_[b], label_[a]);
  }
  void Merge(uint32_t a, uint32_t b) {
    const uint32_t from = label_[a];
    const uint32_t to = label_[b];
    for (uint32_t& label : label_) {
      if (label == from) label = to;
    }
  }

 private:
  /// Whether a path leads from `first` to `last` through another.
  bool Around(uint32_t first, uint32_t last) const {
    std::set<uint32_t> seen{first};
    std::vector<uint32_t> stack{first};
    while (!stack.empty()) {
      const uint32_t node = stack.back();
      stack.pop_back();
      for (const auto& [from, to] : edges_) {
        if (label_[from] != node || label_[to] == node) continue;
        if (label_[to] == last) {
          if (node != first) return true;
          continue;
        }
        if (seen.insert(label_[to]).second) stack.push_back(label_[to]);
      }
    }
    return false;
  }
  std::vector<uint32_t> label_;
  std::set<std::pair<uint32_t, uint32_t>> edges_;
};

TEST(ContractibleDag, AgreesWithASearchOfTheWholeGraph) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const uint32_t count = 4 + random() % 20;
    ContractibleDag dag(count);
    PlainGraph plain(count);
    for (uint32_t to = 1; to < count; ++to) {
      for (uint32_t k = 0; k < 1 + random() % 3; ++k) {
        const uint32_t from = random() % to;
        dag.AddEdge(from, to);
        plain.AddEdge(from, to);
      }
    }
    for (uint32_t k = 0; k < 3 * count; ++k) {
      const uint32_t a = random() % count;
      const uint32_t b = random() % count;
      if (dag.Same(a, b)) continue;
      const bool cycle = plain.MergeMakesCycle(a, b);
      ASSERT_EQ(dag.Merge(a, b), cycle ? Answer::kCycle : Answer::kMerged) << "round " << round;
      if (!cycle) plain.Merge(a, b);
    }
  }
}

}  // namespace
}  // namespace deuteron::relax::fusion
