#include "deuteron/driver/choose_backend.h"

#include <map>
#include <memory>
#include <string>

#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

std::string Chosen(const BackendChoice& choice) {
  return choice.backend + ": " + std::string(CodeOf(choice.decision.reason));
}

/// What Compile chooses.
std::string ChosenFor(const IRModule& module, const CompileOptions& options = {.threads = 2}) {
  const Executable executable = Compile(module, options);
  std::string chosen;
  for (const transform::Decision& decision : executable.decisions().decisions()) {
    if (decision.pass != "ChooseBackend") continue;
    EXPECT_EQ(chosen, "") << "chosen twice";
    chosen = executable.backend() + ": " + std::string(CodeOf(decision.reason));
  }
  return chosen;
}

/// Counts compilations that are seen.
class StageCounter : public transform::PassInstrument {
 public:
  std::map<std::string, int> stages;
  void RunBeforePass(const IRModule&, const transform::PassInfo& info) override {
    if (info.is_sequence) ++stages[info.name];
  }
};

TEST(ChooseBackend, SaysWhichTimeWasShorter) {
  EXPECT_EQ(Chosen(CompareTimes(1e-3, 2e-3)), "dnnl: library-faster");
  EXPECT_EQ(Chosen(CompareTimes(2e-3, 1e-3)), "none: generated-faster");
  for (const auto& [library, generated] : {std::pair{5.94e-3, 5.68e-3}, std::pair{5.68e-3, 5.94e-3}}) {
    const BackendChoice choice = CompareTimes(library, generated);
    EXPECT_EQ(Chosen(choice), "dnnl: too-close-to-tell");
    EXPECT_NE(std::string(choice.decision.message).find("5.94 ms"), std::string::npos) << choice.decision.message;
  }
}

TEST(ChooseBackend, SaysWhyNothingWasMeasured) {
  const auto t = [](const std::string& dims) { return Typed(dims, "float32"); };
  const IRModule small = MakeModule("x: " + t("8, 8"), {"gv = R.matmul(x, x)"});
  EXPECT_EQ(ChosenFor(small), "none: too-little-work");
  EXPECT_EQ(ChosenFor(small, {.opt_level = 0}), "none: fusion-disabled");
  EXPECT_EQ(ChosenFor(MakeModule("x: " + Typed("512, 512", "float64"), {"gv = R.matmul(x, x)"})),
            "none: library-takes-nothing");
  EXPECT_EQ(ChosenFor(MakeModule(
                "x: " + t("n, 2048") + ", w: " + t("2048, 2048"),
                {"b = R.match_cast(x, R.Tensor((6, 2048), \"float32\"))",
                 "a = R.match_cast(x, R.Tensor((7, 2048), \"float32\"))", "c = R.matmul(a, w)", "gv = (b, c)"})),
            "dnnl: not-measured");
}

TEST(ChooseBackend, GoesThroughEachStageOnce) {
  const std::string t = Typed("256, 512", "float32") + ", w: " + Typed("512, 512", "float32");
  const IRModule module = MakeModule("x: " + t, {"gv = R.matmul(x, w)"});
  const auto counter = std::make_shared<StageCounter>();
  const CompileOptions options{.threads = 2, .instruments = {counter}};
  EXPECT_NE(ChosenFor(module, options), "");
  for (const char* stage : {"import", "library", "fuse", "schedule", "memory"}) EXPECT_EQ(counter->stages[stage], 1);
}

}  // namespace
}  // namespace deuteron
