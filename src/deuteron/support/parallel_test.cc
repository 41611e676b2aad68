#include "deuteron/support/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "deuteron/support/limits.h"

namespace deuteron {
namespace {

TEST(ForEachInParallel, DoesEachOnce) {
  for (const size_t threads : {0, 1, 3, 100}) {
    std::vector<std::atomic<int>> done(50);
    ForEachInParallel(done.size(), threads, [&](size_t i) { ++done[i]; });
    for (const auto& times : done) EXPECT_EQ(times.load(), 1);
  }
  ForEachInParallel(0, 4, [](size_t) { FAIL(); });
}

TEST(ForEachInParallel, ThrowsTheFirst) {
  for (int round = 0; round < 50; ++round) {
    try {
      ForEachInParallel(40, 4, [](size_t i) {
        if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
  }
}

TEST(ForEachInParallel, HasTheLimitsOfTheCaller) {
  Limits limits;
  limits.nodes = 12;
  const LimitScope scope(limits);
  std::atomic<int> different{0};
  ForEachInParallel(64, 4, [&](size_t) { different += CurrentLimits().nodes != 12; });
  EXPECT_EQ(different.load(), 0);
}

/// Threads that have ended before anybody looked after them, too.
TEST(ForEachInParallel, LeavesTheCallerWhereItMayRun) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  for (int round = 0; round < 1000; ++round) {
    ForEachInParallel(3, 3, [](size_t) {});
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    ASSERT_TRUE(CPU_EQUAL(&before, &after)) << round;
  }
}

}  // namespace
}  // namespace deuteron
