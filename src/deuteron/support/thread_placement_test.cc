#include "deuteron/support/thread_placement.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

namespace deuteron {
namespace {

cpu_set_t AllowedOf(pthread_t thread) {
  cpu_set_t allowed;
  EXPECT_EQ(pthread_getaffinity_np(thread, sizeof allowed, &allowed), 0);
  return allowed;
}

cpu_set_t Only(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  return only;
}

/// A thread that waits, and a caller whose processors may be changed.
class Placement : public testing::Test {
 protected:
  ~Placement() override {
    EXPECT_EQ(sched_setaffinity(0, sizeof before_, &before_), 0);
    done_.set_value();
    thread_.join();
  }
  pthread_t thread() { return thread_.native_handle(); }
  /// Of the caller, and of the thread before it was placed.
  const cpu_set_t& before() const { return before_; }
  void RunOn(int processor) {
    const cpu_set_t only = Only(processor);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
  }
  void ExpectAllowed(const cpu_set_t& expected) {
    const cpu_set_t now = AllowedOf(thread());
    EXPECT_TRUE(CPU_EQUAL(&now, &expected));
  }

 private:
  std::promise<void> done_;
  cpu_set_t before_ = AllowedOf(pthread_self());
  std::thread thread_{[this] { done_.get_future().wait(); }};
};

TEST_F(Placement, ThreadIsKeptOffTheCallersProcessorWhereverThatIs) {
  ThreadPlacement placement(thread());
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &before())) continue;
    RunOn(i);
    placement.AvoidThisProcessor();
    cpu_set_t expected = before();
    if (CPU_COUNT(&before()) > 1) CPU_CLR(i, &expected);
    ExpectAllowed(expected);
  }
}

TEST_F(Placement, ThreadWithOneProcessorKeepsItAndGetsNoOther) {
  const int first = sched_getcpu();
  const cpu_set_t only = Only(first);
  ASSERT_EQ(pthread_setaffinity_np(thread(), sizeof only, &only), 0);
  ThreadPlacement placement(thread());
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &before())) continue;
    RunOn(i);
    placement.AvoidThisProcessor();
    ExpectAllowed(only);
  }
}

/// The processors of a thread beside the caller, and how many it was kept off.
std::pair<cpu_set_t, int> Beside() {
  std::pair<cpu_set_t, int> seen;
  {
    const ThreadBeside thread([&seen] { seen = {AllowedOf(pthread_self()), TakenFromThisThread()}; });
  }
  return seen;
}

TEST(ThreadBeside, IsKeptOffTheCallersProcessorAndNoOther) {
  const cpu_set_t before = AllowedOf(pthread_self());
  // The system may move the caller meanwhile.
  for (int round = 0; round < 100; ++round) {
    const int here = ThisProcessor();
    const auto [now, taken] = Beside();
    if (ThisProcessor() != here) continue;
    cpu_set_t expected = before;
    if (CPU_COUNT(&before) > 1) CPU_CLR(here, &expected);
    EXPECT_TRUE(CPU_EQUAL(&now, &expected));
    EXPECT_EQ(CPU_COUNT(&now) + taken, CPU_COUNT(&before));
    EXPECT_EQ(TakenFromThisThread(), 0);
    return;
  }
  FAIL() << "the caller does not stay where it is";
}

TEST(ThreadBeside, KeepsOneProcessorAndCountsWhatThoseBeforeItWereKeptOff) {
  const int all = TakenFromThisThread() + [] {
    const cpu_set_t before = AllowedOf(pthread_self());
    return CPU_COUNT(&before);
  }();
  const ThreadBeside thread([&] {
    const int taken = TakenFromThisThread();
    EXPECT_EQ(taken, std::min(all - 1, 1));
    const cpu_set_t only = Only(ThisProcessor());
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    const auto [now, taken_beside] = Beside();
    EXPECT_TRUE(CPU_EQUAL(&now, &only));
    EXPECT_EQ(taken_beside, taken);
  });
}

}  // namespace
}  // namespace deuteron
