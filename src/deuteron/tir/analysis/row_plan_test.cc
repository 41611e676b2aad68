/// \file
/// Which graphs of blocks have rows, and where.
#include "deuteron/tir/analysis/row_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "deuteron/ir/prim_ops.h"

namespace deuteron::tir {
namespace {

using Fault = RowPlan::Fault;
using Shape = std::vector<PrimExpr>;

/// Writes graphs down: a block takes its iterators' extents and, for each access, the tensor and its iterators.
class Graph {
 public:
  size_t Tensor(Shape shape) {
    const size_t id = graph_.AddTensor();
    graph_.tensors[id].shape = std::move(shape);
    return id;
  }
  struct Use {
    size_t tensor;
    std::vector<int> iters;
  };
  /// `num_reduced`: so many iterators at the end are reduced.
  void Block(Shape extents, size_t num_reduced, const Use& result, const std::vector<Use>& operands) {
    RowGraph::Block block;
    block.extents = std::move(extents);
    block.reduces = num_reduced > 0;
    for (size_t i = 0; i < block.extents.size(); ++i) {
      block.is_reduced.push_back(i + num_reduced >= block.extents.size());
    }
    for (const Use& use : operands) block.accesses.push_back({use.tensor, false, use.iters});
    block.accesses.push_back({result.tensor, true, result.iters});
    graph_.tensors[result.tensor].written = true;
    graph_.blocks.push_back(std::move(block));
  }
  /// The last block copies in order of memory.
  void IsReshape() { graph_.blocks.back().reshapes = true; }
  RowPlan Plan() const { return PlanRows(graph_); }
  const RowGraph& graph() const { return graph_; }

 private:
  RowGraph graph_;
};

/// x - max(x) over one axis of three.
Graph Centred(const Shape& shape, int axis) {
  Graph graph;
  std::vector<int> own;    // of the reduction's operand
  std::vector<int> other;  // of its result, and of that in the second block
  Shape extents;
  Shape rest;
  for (int i = 0; i < 3; ++i) {
    own.push_back(i == axis ? 2 : static_cast<int>(rest.size()));
    if (i == axis) continue;
    rest.push_back(shape[static_cast<size_t>(i)]);
    other.push_back(i);
  }
  extents = rest;
  extents.push_back(shape[static_cast<size_t>(axis)]);
  const size_t x = graph.Tensor(shape);
  const size_t max = graph.Tensor(rest);
  const size_t y = graph.Tensor(shape);
  graph.Block(extents, 1, {max, {0, 1}}, {{x, own}});
  graph.Block(shape, 0, {y, {0, 1, 2}}, {{x, {0, 1, 2}}, {max, other}});
  return graph;
}

TEST(RowExtent, IsDividedFromOutside) {
  const Var n("n");
  RowExtent extent(n);
  extent.Add(I64(12));
  const auto rest = extent.Without(RowExtent(PrimExpr(n)));
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(rest->constant, 12);
  EXPECT_TRUE(rest->IsConst());
  EXPECT_FALSE(extent.Without(RowExtent(I64(5))).has_value());
  EXPECT_FALSE(RowExtent(I64(12)).Without(RowExtent(I64(0))).has_value());
  EXPECT_TRUE(RowExtent(I64(0)).Without(RowExtent(I64(0)))->IsUnit());
}

TEST(RowPlan, OneRuleWhateverTheAxis) {
  const Var n("n");
  const Shape shape{n, I64(6), I64(20)};
  const RowPlan last = Centred(shape, 2).Plan();
  ASSERT_EQ(last.fault, Fault::kNone) << last.why_not;
  EXPECT_FALSE(last.columns);
  EXPECT_EQ(last.groups.size(), 1U);
  EXPECT_EQ(last.CountRows(10), 60);

  const RowPlan middle = Centred(shape, 1).Plan();
  ASSERT_EQ(middle.fault, Fault::kNone) << middle.why_not;
  EXPECT_TRUE(middle.columns);
  ASSERT_EQ(middle.groups.size(), 2U);
  EXPECT_EQ(middle.groups.back().extent.constant, 20);
  EXPECT_EQ(middle.blocks[1][0][0].group, 0);
  EXPECT_EQ(middle.blocks[1][1][0].group, -1);
  EXPECT_EQ(middle.blocks[1][2][0].group, 1);

  const RowPlan first = Centred(shape, 0).Plan();
  ASSERT_EQ(first.fault, Fault::kNone) << first.why_not;
  EXPECT_TRUE(first.columns);
  EXPECT_EQ(first.CountRows(10), 120);
}

/// Groups of channels: what comes after the reshape has its rows in the outer part of an iterator.
TEST(RowPlan, CutsIterators) {
  Graph graph;
  const size_t x = graph.Tensor({I64(2), I64(8), I64(36)});
  const size_t mean = graph.Tensor({I64(2), I64(8)});
  const size_t centred = graph.Tensor({I64(2), I64(8), I64(36)});
  const size_t image = graph.Tensor({I64(2), I64(24), I64(12)});
  graph.Block({I64(2), I64(8), I64(36)}, 1, {mean, {0, 1}}, {{x, {0, 1, 2}}});
  graph.Block({I64(2), I64(8), I64(36)}, 0, {centred, {0, 1, 2}}, {{x, {0, 1, 2}}, {mean, {0, 1}}});
  graph.Block({I64(2), I64(24), I64(12)}, 0, {image, {0, 1, 2}}, {{centred, {-1, -1, -1}}});
  graph.IsReshape();
  const RowPlan plan = graph.Plan();
  ASSERT_EQ(plan.fault, Fault::kNone) << plan.why_not;
  const RowParts& channels = plan.blocks[2][1];
  ASSERT_EQ(channels.size(), 2U);
  EXPECT_EQ(channels[0].extent.constant, 8);
  EXPECT_EQ(channels[0].group, 0);
  EXPECT_EQ(channels[1].extent.constant, 3);
  EXPECT_EQ(channels[1].group, -1);
}

TEST(RowPlan, SaysWhatIsWrong) {
  // Rows of different numbers.
  Graph twice;
  const size_t x = twice.Tensor({I64(4), I64(6), I64(8)});
  const size_t once = twice.Tensor({I64(4), I64(6)});
  const size_t all = twice.Tensor({I64(4)});
  twice.Block({I64(4), I64(6), I64(8)}, 1, {once, {0, 1}}, {{x, {0, 1, 2}}});
  twice.Block({I64(4), I64(6)}, 1, {all, {0}}, {{once, {0, 1}}});
  EXPECT_EQ(twice.Plan().fault, Fault::kRowsDiffer);

  // As many, but elsewhere in what goes from one to the other.
  Graph turned;
  const size_t a = turned.Tensor({I64(8), I64(8)});
  const size_t sum = turned.Tensor({I64(8)});
  const size_t b = turned.Tensor({I64(8), I64(8)});
  const size_t max = turned.Tensor({I64(8)});
  turned.Block({I64(8), I64(8)}, 1, {sum, {0}}, {{a, {0, 1}}});
  turned.Block({I64(8), I64(8)}, 0, {b, {0, 1}}, {{a, {0, 1}}, {sum, {0}}});
  turned.Block({I64(8), I64(8)}, 1, {max, {0}}, {{b, {1, 0}}});
  EXPECT_EQ(turned.Plan().fault, Fault::kOutOfStep);

  // What is no argument has to be in step, what is one need not.
  Graph shared;
  const size_t p = shared.Tensor({I64(4), I64(8)});
  const size_t weights = shared.Tensor({I64(8)});
  const size_t low = shared.Tensor({I64(4)});
  const size_t q = shared.Tensor({I64(4), I64(8)});
  shared.Block({I64(4), I64(8)}, 1, {low, {0}}, {{p, {0, 1}}});
  shared.Block({I64(4), I64(8)}, 0, {q, {0, 1}}, {{p, {0, 1}}, {low, {0}}, {weights, {1}}});
  const RowPlan plan = shared.Plan();
  ASSERT_EQ(plan.fault, Fault::kNone) << plan.why_not;
  EXPECT_TRUE(plan.in_step[p]);
  EXPECT_TRUE(plan.in_step[low]);
  EXPECT_FALSE(plan.in_step[weights]);
}

/// What is passed on decides before what is only read alike: the second block turns a square around, the third one
/// needs it as the first.
TEST(RowPlan, WhatIsPassedOnDecidesFirst) {
  Graph graph;
  const size_t x = graph.Tensor({I64(8), I64(8)});
  const size_t sum = graph.Tensor({I64(8)});
  const size_t turned = graph.Tensor({I64(8), I64(8)});
  const size_t y = graph.Tensor({I64(8), I64(8)});
  graph.Block({I64(8), I64(8)}, 1, {sum, {0}}, {{x, {0, 1}}});
  graph.Block({I64(8), I64(8)}, 0, {turned, {0, 1}}, {{x, {1, 0}}});
  graph.Block({I64(8), I64(8)}, 0, {y, {0, 1}}, {{turned, {0, 1}}, {sum, {0}}});
  const RowPlan plan = graph.Plan();
  ASSERT_EQ(plan.fault, Fault::kNone) << plan.why_not;
  EXPECT_FALSE(plan.in_step[x]);
  EXPECT_TRUE(plan.in_step[turned]);
}

void ExpectSame(const RowPlan& a, const RowPlan& b) {
  const auto same_part = [](const RowPart& x, const RowPart& y) { return x.extent == y.extent && x.group == y.group; };
  const auto same_parts = [&](const RowParts& x, const RowParts& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_part);
  };
  EXPECT_EQ(a.fault, b.fault);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_TRUE(std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                         [](const auto& x, const auto& y) { return x.extent == y.extent && x.is_cut == y.is_cut; }));
  EXPECT_TRUE(std::equal(
      a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
      [&](const auto& x, const auto& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_parts); }));
}

/// A graph of random blocks over squares and their sides, whose rows are often in doubt, one block after the other.
class RandomGrowth {
 public:
  explicit RandomGrowth(unsigned seed) : random_(seed) {}

  /// How many blocks were added to the plan of those before.
  int Run() {
    int extended = 0;
    for (int step = 0; step < 12; ++step) extended += Step();
    return extended;
  }

 private:
  size_t Draw(size_t count) { return random_() % count; }

  /// A tensor that is there, or another one.
  size_t Tensor(size_t rank, bool is_result) {
    for (int attempt = 0; attempt < 4 && !graph_.tensors.empty(); ++attempt) {
      const size_t id = Draw(graph_.tensors.size());
      if (graph_.tensors[id].shape.size() == rank && !(is_result && graph_.tensors[id].written)) return id;
    }
    graph_.tensors.push_back({Shape(rank, I64(8)), false});
    return graph_.tensors.size() - 1;
  }

  int Step() {
    const RowGraph before = graph_;
    const size_t rank = 1 + Draw(2);
    const bool reduces = rank == 2 && Draw(3) == 0;
    std::vector<size_t> tensors;
    Graph part;
    std::vector<Graph::Use> operands;
    for (size_t i = 0; i <= Draw(2); ++i) {
      const size_t operand_rank = reduces && i == 0 ? 2 : 1 + Draw(rank);
      const int first = rank == 2 && Draw(4) == 0 ? 1 : 0;
      tensors.push_back(Tensor(operand_rank, false));
      const std::vector<int> iters{first, 1 - first};
      operands.push_back({part.Tensor(Shape(operand_rank, I64(8))),
                          {iters.begin(), iters.begin() + static_cast<int64_t>(operand_rank)}});
    }
    size_t result = Tensor(reduces ? 1 : rank, true);
    while (std::find(tensors.begin(), tensors.end(), result) != tensors.end()) {
      graph_.tensors.push_back({graph_.tensors[result].shape, false});
      result = graph_.tensors.size() - 1;
    }
    tensors.push_back(result);
    const std::vector<int> own{0, 1};
    part.Block(Shape(rank, I64(8)), reduces ? 1 : 0,
               {part.Tensor(graph_.tensors[result].shape),
                {own.begin(), own.begin() + static_cast<int64_t>(graph_.tensors[result].shape.size())}},
               operands);
    for (size_t i = before.tensors.size(); i < graph_.tensors.size(); ++i) planner_->AddTensor();
    EXPECT_EQ(planner_->Append(part.graph(), tensors), nullptr);
    EXPECT_EQ(AppendRowGraph(
                  part.graph(), tensors, [](const PrimExpr& extent) { return extent; }, &graph_),
              nullptr);
    const RowPlan expected = PlanRows(graph_);
    const RowPlan* plan = before.blocks.empty() ? nullptr : planner_->Extend();
    if (plan != nullptr) ExpectSame(*plan, expected);
    if (plan == nullptr && expected.fault == Fault::kNone) Restart();
    const bool is_refused = expected.fault != Fault::kNone || Draw(4) == 0;
    if (!is_refused) {
      planner_->Keep();
    } else if (before.blocks.empty() || (plan == nullptr && expected.fault == Fault::kNone)) {
      graph_ = before;
      Restart();
    } else {
      graph_ = before;
      planner_->TakeBack();
    }
    return plan != nullptr;
  }

  void Restart() {
    planner_ = std::make_unique<RowPlanner>();
    std::vector<size_t> tensors;
    for (size_t i = 0; i < graph_.tensors.size(); ++i) tensors.push_back(planner_->AddTensor());
    if (graph_.blocks.empty()) return;
    EXPECT_EQ(planner_->Append(graph_, tensors), nullptr);
    ExpectSame(planner_->Plan(), PlanRows(graph_));
    planner_->Keep();
  }

  std::mt19937 random_;
  RowGraph graph_;
  std::unique_ptr<RowPlanner> planner_ = std::make_unique<RowPlanner>();
};

TEST(RowPlanner, SaysWhatPlanRowsSays) {
  int extended = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) extended += RandomGrowth(seed).Run();
  EXPECT_GT(extended, 2000);
}

/// Without reductions every element is a row.
TEST(RowPlan, PointwiseBlocks) {
  Graph graph;
  const size_t x = graph.Tensor({I64(4), I64(8)});
  const size_t y = graph.Tensor({I64(4), I64(8)});
  const size_t z = graph.Tensor({I64(4), I64(8)});
  graph.Block({I64(4), I64(8)}, 0, {y, {0, 1}}, {{x, {0, 1}}});
  graph.Block({I64(4), I64(8)}, 0, {z, {0, 1}}, {{y, {0, 1}}});
  EXPECT_EQ(graph.Plan().CountRows(1), 32);
  Graph reversed;
  reversed.Tensor({I64(4), I64(8)});
  reversed.Tensor({I64(4), I64(8)});
  reversed.Tensor({I64(4), I64(8)});
  reversed.Block({I64(4), I64(8)}, 0, {y, {0, 1}}, {{x, {0, 1}}});
  reversed.Block({I64(4), I64(8)}, 0, {z, {0, 1}}, {{y, {0, -1}}});
  EXPECT_EQ(reversed.Plan().fault, Fault::kOutOfStep);
}

}  // namespace
}  // namespace deuteron::tir
