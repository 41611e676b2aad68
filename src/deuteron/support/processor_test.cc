#include "deuteron/support/processor.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <future>
#include <thread>

namespace deuteron {
namespace {

cpu_set_t AllowedOf(pthread_t thread) {
  cpu_set_t allowed;
  EXPECT_EQ(pthread_getaffinity_np(thread, sizeof allowed, &allowed), 0);
  return allowed;
}

/// A thread that waits.
class Processor : public testing::Test {
 protected:
  ~Processor() override {
    done_.set_value();
    thread_.join();
  }
  pthread_t thread() { return thread_.native_handle(); }

 private:
  std::promise<void> done_;
  std::thread thread_{[this] { done_.get_future().wait(); }};
};

TEST_F(Processor, OtherThreadIsKeptOffTheCallersAndNoOther) {
  cpu_set_t expected = AllowedOf(thread());
  const int off = KeepOffThisProcessor(thread());
  if (CPU_COUNT(&expected) > 1) CPU_CLR(off, &expected);
  const cpu_set_t now = AllowedOf(thread());
  EXPECT_TRUE(CPU_EQUAL(&now, &expected));
  EXPECT_GT(CPU_COUNT(&now), 0);
}

TEST_F(Processor, ThreadReturnsToWhereItWasKeptOff) {
  const cpu_set_t before = AllowedOf(thread());
  // The caller moves through all processors that it may run on.
  for (int off = kAnyProcessor, i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &before)) continue;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(i, &only);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    off = KeepOffThisProcessor(thread(), off);
    EXPECT_EQ(off, i);
    cpu_set_t expected = before;
    if (CPU_COUNT(&before) > 1) CPU_CLR(i, &expected);
    const cpu_set_t now = AllowedOf(thread());
    EXPECT_TRUE(CPU_EQUAL(&now, &expected)) << i;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_F(Processor, ThreadWithOneProcessorKeepsIt) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(sched_getcpu(), &only);
  const cpu_set_t before = AllowedOf(pthread_self());
  ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
  ASSERT_EQ(pthread_setaffinity_np(thread(), sizeof only, &only), 0);
  EXPECT_EQ(KeepOffThisProcessor(thread()), sched_getcpu());
  const cpu_set_t now = AllowedOf(thread());
  EXPECT_TRUE(CPU_EQUAL(&now, &only));
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace deuteron
