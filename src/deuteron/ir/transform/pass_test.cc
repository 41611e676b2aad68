#include "deuteron/ir/transform/pass.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "deuteron/ir/transform/instruments.h"

namespace deuteron::transform {
namespace {

/// A pass that writes its name to a log.
Pass Logging(std::vector<std::string>* log, std::string name, int opt_level = 0,
             std::vector<std::string> required = {}) {
  PassInfo info{.name = name, .opt_level = opt_level, .required = std::move(required)};
  return ModulePass(std::move(info), [log, name](IRModule module, const PassContext&) {
    log->push_back(name);
    return module;
  });
}

using Names = std::vector<std::string>;

TEST(PassContext, DefaultOptLevelIsTwo) { EXPECT_EQ(PassContext().opt_level, 2); }

TEST(Sequential, RunsEnabledPassesInOrder) {
  Names log;
  const Sequential passes({Logging(&log, "a", 0), Logging(&log, "b", 3), Logging(&log, "c", 2)});
  passes(IRModule::Empty());
  EXPECT_EQ(log, (Names{"a", "c"}));
}

TEST(Sequential, DisabledBeatsRequiredBeatsLevel) {
  Names log;
  PassContext context;
  context.opt_level = 0;
  context.required_pass = {"a", "b"};
  context.disabled_pass = {"b", "d"};
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a", 3), Logging(&log, "b", 0), Logging(&log, "c", 1), Logging(&log, "d", 0)})(
      IRModule::Empty());
  EXPECT_EQ(log, (Names{"a"}));
}

TEST(Sequential, RequiredPassesRunBeforeEachTime) {
  Names log;
  PassContext context;
  context.find_pass = [&](const std::string& name) { return Logging(&log, name, 9); };
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a", 0, {"infer"}), Logging(&log, "b", 0, {"infer"})})(IRModule::Empty());
  EXPECT_EQ(log, (Names{"infer", "a", "infer", "b"}));
}

TEST(Sequential, RequiredPassWithoutRegistryIsAnError) {
  Names log;
  EXPECT_THROW(Sequential({Logging(&log, "a", 0, {"infer"})})(IRModule::Empty()), ffi::Error);
}

TEST(Pass, CalledAloneRunsWhateverItsLevel) {
  Names log;
  Logging(&log, "a", 9)(IRModule::Empty());
  EXPECT_EQ(log, (Names{"a"}));
}

TEST(PassContext, ScopesNest) {
  PassContext outer;
  outer.opt_level = 1;
  const PassContext::Scope outer_scope(outer);
  {
    PassContext inner;
    inner.opt_level = 3;
    const PassContext::Scope inner_scope(inner);
    EXPECT_EQ(PassContext::Current().opt_level, 3);
  }
  EXPECT_EQ(PassContext::Current().opt_level, 1);
}

class Recorder : public PassInstrument {
 public:
  Recorder(Names* log, std::string name, std::string fails_in = "", std::string vetoes = "")
      : log_(log), name_(std::move(name)), fails_in_(std::move(fails_in)), vetoes_(std::move(vetoes)) {}
  void EnterContext() override { Note("enter"); }
  void ExitContext() override { Note("exit"); }
  bool ShouldRun(const IRModule& module, const PassInfo& info) override { return info.name != vetoes_; }
  void RunBeforePass(const IRModule& module, const PassInfo& info) override { Note("before-" + info.name); }
  void RunAfterPass(const IRModule& module, const PassInfo& info) override { Note("after-" + info.name); }

 private:
  void Note(const std::string& what) {
    if (what == fails_in_) throw std::runtime_error(what);
    log_->push_back(name_ + ":" + what);
  }
  Names* log_;
  std::string name_, fails_in_, vetoes_;
};

TEST(Instruments, SurroundContextAndPasses) {
  Names log;
  PassContext context;
  context.instruments = {std::make_shared<Recorder>(&log, "i"), std::make_shared<Recorder>(&log, "j")};
  {
    const PassContext::Scope scope(context);
    Logging(&log, "p")(IRModule::Empty());
  }
  EXPECT_EQ(log, (Names{"i:enter", "j:enter", "i:before-p", "j:before-p", "p", "i:after-p", "j:after-p",
                        "i:exit", "j:exit"}));
}

TEST(Instruments, VetoAPassThatIsNotRequired) {
  for (const bool required : {false, true}) {
    Names log;
    PassContext context;
    context.instruments = {std::make_shared<Recorder>(&log, "i", "", "p")};
    if (required) context.required_pass = {"p"};
    const PassContext::Scope scope(context);
    Logging(&log, "p")(IRModule::Empty());
    EXPECT_EQ(log, required ? (Names{"i:enter", "i:before-p", "p", "i:after-p"}) : (Names{"i:enter"}));
  }
}

TEST(Instruments, FailedEnterExitsThoseEnteredAndLeavesTheContext) {
  Names log;
  PassContext context;
  context.opt_level = 7;
  context.instruments = {std::make_shared<Recorder>(&log, "i"), std::make_shared<Recorder>(&log, "j", "enter"),
                         std::make_shared<Recorder>(&log, "k")};
  EXPECT_THROW(const PassContext::Scope scope(context), std::runtime_error);
  EXPECT_EQ(log, (Names{"i:enter", "i:exit"}));
  EXPECT_EQ(PassContext::Current().opt_level, 2);
}

TEST(Instruments, FailedExitStillExitsTheOthers) {
  Names log;
  PassContext context;
  context.instruments = {std::make_shared<Recorder>(&log, "i", "exit"), std::make_shared<Recorder>(&log, "j")};
  EXPECT_THROW({ const PassContext::Scope scope(context); }, std::runtime_error);
  EXPECT_EQ(log, (Names{"i:enter", "j:enter", "j:exit"}));
  EXPECT_EQ(PassContext::Current().opt_level, 2);
}

TEST(Config, TextAndValues) {
  PassContext context;
  EXPECT_EQ(context.GetInt("relax.FuseOps.max_depth"), 256);
  context.SetConfig("relax.FuseOps.max_depth", int64_t{7});
  EXPECT_EQ(context.GetInt("relax.FuseOps.max_depth"), 7);
  context.SetConfig("relax.FuseOps.max_depth", String("12"));
  EXPECT_EQ(context.GetInt("relax.FuseOps.max_depth"), 12);
  EXPECT_FALSE(context.GetBool("tvm_compat"));
  context.SetConfig("tvm_compat", String("true"));
  EXPECT_TRUE(context.GetBool("tvm_compat"));
  context.SetConfig("tvm_compat", false);
  EXPECT_FALSE(context.GetBool("tvm_compat"));
}

TEST(Config, UnknownKeyListsTheKnownOnes) {
  PassContext context;
  try {
    context.SetConfig("relax.FuseOps.max_dept", int64_t{7});
    FAIL();
  } catch (const ffi::Error& error) {
    EXPECT_EQ(error.kind(), "UsageError");
    EXPECT_NE(error.message().find("relax.FuseOps.max_depth"), std::string::npos);
  }
}

TEST(Config, WrongTypeIsAnError) {
  PassContext context;
  EXPECT_THROW(context.SetConfig("relax.FuseOps.max_depth", String("many")), ffi::Error);
  EXPECT_THROW(context.SetConfig("relax.FuseOps.max_depth", 1.5), ffi::Error);
  EXPECT_THROW(context.SetConfig("tvm_compat", int64_t{2}), ffi::Error);
}

TEST(Instruments, TimingNests) {
  Names log;
  auto timing = std::make_shared<TimingInstrument>();
  PassContext context;
  context.instruments = {timing};
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a"), Logging(&log, "b")}, "both")(IRModule::Empty());
  ASSERT_EQ(timing->rows().size(), 3U);
  EXPECT_EQ(timing->rows()[0].name, "both");
  EXPECT_EQ(timing->rows()[2].name, "b");
  EXPECT_EQ(timing->rows()[2].depth, 1);
  EXPECT_GE(timing->rows()[0].milliseconds, timing->rows()[1].milliseconds);
  EXPECT_NE(timing->Table().find("  b"), std::string::npos);
}

TEST(Instruments, PrintsBeforeAndAfter) {
  Names log;
  std::ostringstream out;
  PassContext context;
  context.instruments = {std::make_shared<PrintInstrument>(PrintInstrument::Options{{"b"}, {"a"}, false},
                                                           [](const IRModule&) { return "text"; }, &out)};
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a"), Logging(&log, "b")})(IRModule::Empty());
  EXPECT_EQ(out.str(), "# ----- after a\ntext\n# ----- before b\ntext\n");
}

TEST(Instruments, DumpsEachChangeOnce) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "deuteron_dump_test";
  std::filesystem::remove_all(folder);
  Names log;
  PassContext context;
  context.instruments = {std::make_shared<DumpInstrument>(folder.string(), [](const IRModule&) { return "m"; })};
  const auto change = ModulePass({.name = "change"}, [](IRModule, const PassContext&) { return IRModule::Empty(); });
  {
    const PassContext::Scope scope(context);
    Sequential({Logging(&log, "keep"), change})(IRModule::Empty());
  }
  Names files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (Names{"000_input.py", "001_change.py"}));
}

TEST(Instruments, VerifyNamesThePass) {
  Names log;
  PassContext context;
  context.instruments = {std::make_shared<VerifyInstrument>(
      [](const IRModule&) { DEUTERON_THROW(ModelError) << "bad var"; })};
  const PassContext::Scope scope(context);
  try {
    Logging(&log, "breaker")(IRModule::Empty());
    FAIL();
  } catch (const ffi::Error& error) {
    EXPECT_NE(error.message().find("breaker"), std::string::npos);
    EXPECT_NE(error.message().find("bad var"), std::string::npos);
  }
}

TEST(Instruments, BisectStopsAfterTheLimit) {
  Names log;
  PassContext context;
  context.instruments = {std::make_shared<BisectInstrument>(2)};
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a"), Logging(&log, "b"), Logging(&log, "c")})(IRModule::Empty());
  EXPECT_EQ(log, (Names{"a", "b"}));
}

}  // namespace
}  // namespace deuteron::transform
