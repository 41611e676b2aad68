#include "deuteron/driver/tune_schedules.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "deuteron/testing/library_test_util.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

class Tuning : public testing::Test {
 protected:
  /// Two products that are equal, a third one, and rows: of scaled sums, since an exponential makes the rounding of
  /// what it is given, absolute, its own, relative.
  static IRModule Products() {
    return MakeModule("x: " + Typed("64, 64", "float32") + ", w: " + Typed("64, 64", "float32") +
                          ", v: " + Typed("64, 40", "float32"),
                      {"a = R.matmul(x, w)", "b = R.matmul(a, w)", "c = R.matmul(b, v)",
                       "d = R.multiply(c, R.const(0.01, \"float32\"))", "gv = R.nn.softmax(d)"});
  }
  CompileOptions Options(const std::string& target = "native") const {
    return {.target = target,
            .threads = 2,
            .backend = "none",
            .config = {{"tune_seconds", "60"}, {"tune_folder", folder_.string()}}};
  }
  static std::map<std::string, transform::Decision> Decisions(const Executable& executable) {
    std::map<std::string, transform::Decision> found;
    for (const transform::Decision& decision : executable.decisions().decisions()) {
      if (decision.reason == transform::Reason::kTuned) found.emplace(std::string(decision.subject), decision);
    }
    return found;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path() / "winners";
};

TEST_F(Tuning, TargetsDifferAndAreReadBack) {
  for (const char* text : {"x86-64", "x86-64-v3", "x86-64-v4", "cortex-a72", "x86-64 -l1-bytes=1 -l2-bytes=1"}) {
    std::set<std::string> texts;
    for (const Target& target : TuningTargets(Target::Parse(text))) {
      EXPECT_EQ(Target::Parse(target.ToString()), target);
      EXPECT_TRUE(texts.insert(target.ToString()).second) << target.ToString();
    }
    EXPECT_GT(texts.size(), 5U);
  }
}

TEST_F(Tuning, KeepsResultsAndWinners) {
  const Executable measured = Compile(Products(), Options());
  ExpectSameAsInterpreter(Products(), measured, {1}, 1e-5);
  const auto decisions = Decisions(measured);
  EXPECT_FALSE(decisions.empty());
  for (const auto& [kernel, decision] : decisions) EXPECT_NE(decision.message, "kept from an earlier compilation");
  const Executable again = Compile(Products(), Options());
  ExpectSameAsInterpreter(Products(), again, {1}, 1e-5);
  ASSERT_EQ(Decisions(again).size(), decisions.size());
  for (const auto& [kernel, decision] : Decisions(again)) {
    EXPECT_EQ(decision.message, "kept from an earlier compilation");
    EXPECT_EQ(decision.object, decisions.at(kernel).object);
  }
}

TEST_F(Tuning, WinnersThatAreNoneAreMeasuredAgain) {
  Compile(Products(), Options());
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    std::ofstream(entry.path()) << "llvm -mcpu=other -l1-bytes=banana\n";
  }
  for (const auto& [kernel, decision] : Decisions(Compile(Products(), Options()))) {
    EXPECT_NE(decision.message, "kept from an earlier compilation");
  }
}

TEST_F(Tuning, WinnersDecideTheSchedule) {
  // What was measured is this test's word for it: the last of the targets, whatever the machine.
  const Target target = Target::Parse("native", 2);
  const std::string other = TuningTargets(target).back().ToString();
  Compile(Products(), Options());
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) std::ofstream(entry.path()) << other << "\n";
  const Executable executable = Compile(Products(), Options());
  ExpectSameAsInterpreter(Products(), executable, {1}, 1e-5);
  for (const auto& [kernel, decision] : Decisions(executable)) EXPECT_EQ(decision.object, other);
}

TEST_F(Tuning, NothingIsMeasuredUnlessAskedFor) {
  CompileOptions options = Options();
  options.config["tune_seconds"] = "0";
  EXPECT_TRUE(Decisions(Compile(Products(), options)).empty());
  EXPECT_TRUE(Decisions(Compile(Products(), Options("cortex-a72"))).empty());
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

}  // namespace
}  // namespace deuteron
