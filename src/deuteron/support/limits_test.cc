#include "deuteron/support/limits.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "deuteron/support/error.h"

namespace deuteron {
namespace {

std::string ErrorOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const tvm::ffi::Error& error) {
    return std::string(error.kind()) + ": " + std::string(error.message());
  }
  return "";
}

TEST(Limits, AreSetByName) {
  Limits limits;
  SetLimit("nodes", "12", &limits);
  SetLimit("model_bytes", "4Gi", &limits);
  SetLimit("operations", "3T", &limits);
  EXPECT_EQ(limits.nodes, 12);
  EXPECT_EQ(limits.model_bytes, int64_t{4} << 30);
  EXPECT_EQ(limits.operations, 3'000'000'000'000);
  for (const LimitRow& row : AllLimits()) {
    EXPECT_EQ(Limits().*row.field, row.standard) << row.name;
    SetLimit(row.name, row.most, &limits);
    EXPECT_EQ(limits.*row.field, row.most) << row.name;
  }
}

TEST(Limits, RefusesWhatIsNone) {
  Limits limits;
  for (const char* value : {"", "-1", "x", "1e3", "4GiB", "4X", "9999999T", "99999999999999999999", " 1"}) {
    EXPECT_NE(ErrorOf([&] { SetLimit("nodes", value, &limits); }).find("UsageError: the limit nodes is a number"),
              std::string::npos)
        << value;
  }
  EXPECT_NE(ErrorOf([&] { SetLimit("node", "1", &limits); }).find("did you mean \"nodes\""), std::string::npos);
  EXPECT_NE(ErrorOf([&] { SetLimit("nesting", "65", &limits); }).find("0 to 64"), std::string::npos);
}

TEST(Limits, HoldInTheirScope) {
  const Limits outer{.nodes = 5};
  const LimitScope scope(outer);
  CheckLimit(&Limits::nodes, 5, "a graph");
  EXPECT_EQ(ErrorOf([] { CheckLimit(&Limits::nodes, 6, "a graph"); }),
            "UnsupportedError: a graph: 6 nodes, more than the limit nodes=5; more are given by --limit nodes=NUMBER "
            "(docs/limits.md)");
  {
    const LimitScope inner(Limits{.nodes = 7});
    CheckLimit(&Limits::nodes, 7, "a graph");
  }
  EXPECT_EQ(CurrentLimits(), outer);
  // A thread has none until it is given some.
  const LimitScope::Shared shared;
  std::thread([&] {
    EXPECT_EQ(CurrentLimits(), Limits());
    const LimitScope given(shared);
    EXPECT_EQ(CurrentLimits(), outer);
  }).join();
  EXPECT_NE(ErrorOf([] { CheckLimit(&Limits::extent, 0x1p80, "an axis"); }).find("1.21e+24 long"), std::string::npos);
  EXPECT_NE(ErrorOf([] { CheckLimit(&Limits::extent, 0x1p80, "an axis"); }).find("no more can be given"),
            std::string::npos);
}

TEST(Limits, TimeCountsFromTheOutermostScope) {
  CheckBudget("nothing");
  const LimitScope outer(Limits{});
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CheckBudget("a pass");
  const LimitScope inner(Limits{.compile_seconds = 0});
  EXPECT_NE(ErrorOf([] { CheckBudget("a pass"); }).find("a pass: 1 seconds, more than the limit compile_seconds=0"),
            std::string::npos);
}

TEST(Limits, WhatIsUnderWayIsEndedByAPoll) {
  const auto ended = [] { DEUTERON_THROW(UsageError) << "ended"; };
  const LimitScope outer(Limits{}, ended);
  CheckBudget("a pass");
  std::this_thread::sleep_for(std::chrono::milliseconds(11));
  const LimitScope::Shared shared;
  std::thread([&] {
    // Only the thread whose it is polls.
    const LimitScope given(shared);
    std::this_thread::sleep_for(std::chrono::milliseconds(11));
    CheckBudget("a pass");
  }).join();
  EXPECT_EQ(ErrorOf([] { CheckBudget("a pass"); }), "UsageError: ended");
  CheckBudget("a pass");
  const LimitScope inner(Limits{});
  std::this_thread::sleep_for(std::chrono::milliseconds(11));
  EXPECT_EQ(ErrorOf([] { CheckBudget("a pass"); }), "UsageError: ended");
}

TEST(Limits, MemoryCountsFromTheScope) {
  const LimitScope scope(Limits{.compile_bytes = 16 << 20});
  CheckBudget("a pass");
  std::vector<char> memory(size_t{64} << 20);
  // What nobody sees a compiler may leave out.
  for (size_t at = 0; at < memory.size(); at += 4096) *static_cast<volatile char*>(&memory[at]) = 'x';
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_NE(ErrorOf([] { CheckBudget("a pass"); }).find("compile_bytes=16777216"), std::string::npos);
}

}  // namespace
}  // namespace deuteron
