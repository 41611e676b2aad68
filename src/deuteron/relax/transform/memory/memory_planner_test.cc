#include "deuteron/relax/transform/memory/memory_planner.h"

#include <gtest/gtest.h>

#include <random>

namespace deuteron::relax {
namespace {

void ExpectValid(const std::vector<Lifetime>& blocks, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_GE(plan.offsets[i], 0);
    ASSERT_LE(plan.offsets[i] + blocks[i].size, plan.total);
    for (size_t j = 0; j < i; ++j) {
      if (blocks[i].last < blocks[j].first || blocks[j].last < blocks[i].first) continue;
      if (blocks[i].size == 0 || blocks[j].size == 0) continue;
      ASSERT_TRUE(plan.offsets[i] + blocks[i].size <= plan.offsets[j] ||
                  plan.offsets[j] + blocks[j].size <= plan.offsets[i])
          << "blocks " << i << " and " << j << " live at once and overlap";
    }
  }
}

TEST(PlanMemory, ChainNeedsTwoBuffers) {
  std::vector<Lifetime> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back({64, i, i + 1});
  const MemoryPlan plan = PlanMemory(blocks);
  ExpectValid(blocks, plan);
  EXPECT_EQ(plan.total, 128);
}

TEST(PlanMemory, NothingAndEmptyBlocks) {
  EXPECT_EQ(PlanMemory({}).total, 0);
  const std::vector<Lifetime> blocks = {{0, 0, 5}, {64, 1, 2}, {0, 1, 1}};
  const MemoryPlan plan = PlanMemory(blocks);
  ExpectValid(blocks, plan);
  EXPECT_EQ(plan.total, 64);
}

TEST(PlanMemory, RandomLifetimesNeverOverlapAndStayNearTheBound) {
  std::mt19937 random(7);
  double worst = 0, sum = 0;
  const int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    const int count = 1 + static_cast<int>(random() % 120);
    std::vector<Lifetime> blocks;
    for (int i = 0; i < count; ++i) {
      // One draw a statement: the order of two in an expression is the compiler's.
      const int64_t first = random() % 100;
      const int64_t longest = random() % 4 == 0 ? 60 : 5;
      const int64_t duration = random() % longest;
      const int64_t largest = random() % 3 == 0 ? 1000 : 30;
      const auto size = static_cast<int64_t>(1 + random() % largest);
      blocks.push_back({64 * size, first, first + duration});
    }
    const MemoryPlan plan = PlanMemory(blocks);
    ExpectValid(blocks, plan);
    const int64_t bound = LargestLiveSet(blocks);
    ASSERT_GE(plan.total, bound);
    const double ratio = static_cast<double>(plan.total) / static_cast<double>(bound);
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  EXPECT_LT(worst, 1.08);
  EXPECT_LT(sum / rounds, 1.01);
}

/// As in ResNet: activations shrink, skips live for three steps.
TEST(PlanMemory, ResidualNetworkIsWithinATenthOfTheBound) {
  std::vector<Lifetime> blocks;
  int64_t size = 802816 * 4, step = 0;
  for (int stage = 0; stage < 4; ++stage, size /= 2) {
    for (int block = 0; block < 4; ++block) {
      blocks.push_back({size, step, step + 3});
      blocks.push_back({size / 4, step + 1, step + 2});
      blocks.push_back({size / 4, step + 2, step + 3});
      step += 3;
    }
  }
  const MemoryPlan plan = PlanMemory(blocks);
  ExpectValid(blocks, plan);
  EXPECT_LE(plan.total, LargestLiveSet(blocks) * 11 / 10);
}

/// For few runs it may be left as it is, but no worse than greedy orders are.
TEST(PlanMemory, ForFewRunsIsNoWorseThanInOrder) {
  std::minstd_rand random(5);
  for (const int64_t unit : {64, 1 << 20}) {
    std::vector<Lifetime> blocks;
    for (int64_t i = 0; i < 200; ++i) {
      const auto size = static_cast<int64_t>(1 + random() % 50), length = static_cast<int64_t>(random() % 30);
      blocks.push_back({unit * size, i, i + length});
    }
    const MemoryPlan often = PlanMemory(blocks), seldom = PlanMemory(blocks, /*few_runs=*/true);
    ExpectValid(blocks, seldom);
    EXPECT_LE(often.total, seldom.total);
    EXPECT_LE(seldom.total, LargestLiveSet(blocks) * 13 / 10);
    // Of much memory it is worth as long.
    if (unit > 64) {
      EXPECT_EQ(often.total, seldom.total);
    }
  }
}

/// A hundred thousand blocks in well under the test's time limit, whatever lives at once.
TEST(PlanMemory, IsNearLinear) {
  for (const bool everything_lives : {false, true}) {
    std::vector<Lifetime> blocks;
    for (int i = 0; i < 100000; ++i) blocks.push_back({64 * (1 + i % 17), i, everything_lives ? 100000 : i + i % 7});
    const MemoryPlan plan = PlanMemory(blocks);
    EXPECT_GE(plan.total, LargestLiveSet(blocks));
  }
}

}  // namespace
}  // namespace deuteron::relax
