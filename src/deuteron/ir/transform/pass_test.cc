#include "deuteron/ir/transform/pass.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "deuteron/ir/transform/instruments.h"
#include "deuteron/testing/temporary_folder.h"

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

TEST(Sequential, WhatARequiredPassRequiresRunsBeforeIt) {
  Names log;
  PassContext context;
  context.disabled_pass = {"infer"};
  context.find_pass = [&](const std::string& name) {
    return name == "infer" ? Logging(&log, name, 0, {"normalize"}) : Logging(&log, name);
  };
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a", 0, {"infer"})})(IRModule::Empty());
  EXPECT_EQ(log, (Names{"normalize", "infer", "a"}));
}

/// Kind and message of the error that `action` throws.
template <typename Action>
std::string ErrorOf(const Action& action) {
  try {
    action();
  } catch (const ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "no error";
}

TEST(Sequential, PassesThatRequireEachOtherAreAnError) {
  Names log;
  PassContext context;
  context.find_pass = [&](const std::string& name) { return Logging(&log, name, 0, {name == "a" ? "b" : "a"}); };
  const PassContext::Scope scope(context);
  EXPECT_EQ(ErrorOf([&] { Sequential({Logging(&log, "a", 0, {"b"})})(IRModule::Empty()); }),
            "UsageError: passes require each other: a requires b requires a");
  EXPECT_EQ(log, Names{});
}

TEST(Sequential, NestsAndIsGatedAsAWhole) {
  Names log;
  PassContext context;
  context.disabled_pass = {"inner"};
  const Sequential inner({Logging(&log, "b")}, "inner");
  const Sequential outer({Logging(&log, "a"), inner, Logging(&log, "c")});
  outer(IRModule::Empty());
  EXPECT_EQ(log, (Names{"a", "b", "c"}));
  log.clear();
  const PassContext::Scope scope(context);
  outer(IRModule::Empty());
  EXPECT_EQ(log, (Names{"a", "c"}));
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

/// A pass that is a class.
class AddAttribute {
 public:
  explicit AddAttribute(int64_t value) : value_(value) {}
  IRModule TransformModule(IRModule module, const PassContext& context) const {
    auto* node = CopyOnWrite(&module);
    node->attrs = DictAttrs::With(std::move(node->attrs), "value", value_ + context.opt_level);
    return module;
  }

 private:
  int64_t value_;
};

TEST(Pass, FromAClass) {
  const Pass pass = ModulePass({.opt_level = 1}, AddAttribute(40));
  EXPECT_EQ(pass->info.name, "AddAttribute");
  EXPECT_EQ(pass->info.opt_level, 1);
  EXPECT_EQ(pass(IRModule::Empty())->attrs.Get<int64_t>("value").value(), 42);
  EXPECT_EQ(ModulePass({.name = "Other"}, AddAttribute(40))->info.name, "Other");
}

TEST(Pass, MustReturnAModule) {
  const Pass pass = ModulePass({.name = "loser"}, [](IRModule, const PassContext&) { return IRModule(); });
  EXPECT_NE(ErrorOf([&] { pass(IRModule::Empty()); }).find("pass loser returned no module"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { pass(IRModule()); }).find("pass loser given no module"), std::string::npos);
}

Pass Failing(const std::string& name, const char* kind) {
  return ModulePass({.name = name, .invocation = name + "(x=1)"},
                    [kind](IRModule, const PassContext&) -> IRModule { throw ffi::Error(kind, "broken", ""); });
}

PassFailure FailureOf(const Pass& pass, const IRModule& module) {
  try {
    pass(module);
  } catch (const ffi::Error& error) {
    return PassFailure::Of(error);
  }
  return PassFailure();
}

TEST(PassFailure, HoldsTheModuleThePassesThatRemainAndTheContext) {
  Names log;
  PassContext context;
  context.disabled_pass = {"d"};
  context.opt_level = 1;
  context.SetConfig("tvm_compat", true);
  const PassContext::Scope scope(context);
  const Pass change = ModulePass({}, AddAttribute(6));
  const Sequential inner({change, Failing("f", "InternalError"), Logging(&log, "c")});
  const Sequential outer({Logging(&log, "a"), inner, Logging(&log, "d"), Logging(&log, "late", 2), Logging(&log, "e")});
  const PassFailure failure = FailureOf(outer, IRModule::Empty());
  ASSERT_TRUE(failure.defined());
  EXPECT_EQ(failure->passes, (Names{"f(x=1)", "c", "e"}));
  EXPECT_EQ(failure->module->attrs.Get<int64_t>("value").value(), 7);
  EXPECT_EQ(failure->context.opt_level, 1);
  EXPECT_TRUE(failure->context.GetBool("tvm_compat"));
}

TEST(PassFailure, OfAListWithANameIsThatOfTheList) {
  auto named = MakeNode<SequentialNode>();
  named->info = {.name = "FuseTIR", .is_sequence = true, .invocation = "FuseTIR"};
  named->passes = {ModulePass({}, AddAttribute(6)), Failing("inner", "InternalError")};
  const PassFailure failure =
      FailureOf(Sequential({Pass(std::move(named)), Failing("g", "InternalError")}), IRModule::Empty());
  EXPECT_EQ(failure->passes, (Names{"FuseTIR", "g(x=1)"}));
  EXPECT_FALSE(failure->module->attrs.defined());
}

TEST(PassFailure, OfAPassInStepsHoldsWhatItHadComeTo) {
  const Pass pass = StepwisePass({.name = "steps"}, [](IRModule* module, const PassContext& context) {
    *module = AddAttribute(40).TransformModule(std::move(*module), context);
    throw ffi::Error("InternalError", "broken", "");
  });
  const PassFailure failure = FailureOf(pass, IRModule::Empty());
  EXPECT_EQ(failure->passes, Names{"steps"});
  EXPECT_EQ(failure->module->attrs.Get<int64_t>("value").value(), 42);
}

TEST(PassFailure, OfARestartableListHoldsWhatItHadComeTo) {
  auto named = MakeNode<SequentialNode>();
  named->info = {.name = "list", .is_sequence = true, .restartable = true, .invocation = "list"};
  named->passes = {ModulePass({}, AddAttribute(6)), Failing("inner", "InternalError")};
  const PassFailure failure = FailureOf(Pass(std::move(named)), IRModule::Empty());
  EXPECT_EQ(failure->passes, Names{"list"});
  EXPECT_EQ(failure->module->attrs.Get<int64_t>("value").value(), 8);
}

/// Finds fault with every result.
class Refusing : public PassInstrument {
 public:
  void RunAfterPass(const IRModule& module, const PassInfo& info) override {
    throw ffi::Error("InternalError", "wrong result", "");
  }
};

TEST(PassFailure, OfAnInstrumentHoldsWhatThePassWasGiven) {
  PassContext context;
  context.instruments = {std::make_shared<Refusing>()};
  const PassContext::Scope scope(context);
  const PassFailure failure = FailureOf(ModulePass({.name = "p"}, AddAttribute(6)), IRModule::Empty());
  EXPECT_EQ(failure->passes, Names{"p"});
  EXPECT_FALSE(failure->module->attrs.defined());
}

TEST(PassFailure, OfARequiredPassKeepsTheOneThatRequiredIt) {
  Names log;
  PassContext context;
  context.find_pass = [&](const std::string& name) { return Failing(name, "InternalError"); };
  const PassContext::Scope scope(context);
  EXPECT_EQ(FailureOf(Sequential({Logging(&log, "a", 0, {"r"}), Logging(&log, "b")}), IRModule::Empty())->passes,
            (Names{"r(x=1)", "a", "b"}));
}

TEST(PassFailure, IsOfInternalErrorsOnly) {
  EXPECT_FALSE(FailureOf(Failing("f", "ModelError"), IRModule::Empty()).defined());
  const Pass standard = ModulePass(
      {.name = "standard"}, [](IRModule, const PassContext&) -> IRModule { throw std::out_of_range("map::at"); });
  EXPECT_EQ(FailureOf(standard, IRModule::Empty())->passes, Names{"standard"});
  EXPECT_EQ(ErrorOf([&] { standard(IRModule::Empty()); }), "InternalError: map::at");
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
  EXPECT_EQ(log, (Names{"i:enter", "j:enter", "i:before-p", "j:before-p", "p", "i:after-p", "j:after-p", "i:exit",
                        "j:exit"}));
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

TEST(Instruments, OverrideExitsTheOldAndEntersTheNew) {
  Names log;
  PassContext context;
  context.instruments = {std::make_shared<Recorder>(&log, "i")};
  PassContext::Scope scope(context);
  scope.OverrideInstruments({std::make_shared<Recorder>(&log, "j")});
  EXPECT_EQ(log, (Names{"i:enter", "i:exit", "j:enter"}));
  EXPECT_THROW(scope.OverrideInstruments({std::make_shared<Recorder>(&log, "k", "enter")}), std::runtime_error);
  Logging(&log, "p")(IRModule::Empty());
  EXPECT_EQ(log, (Names{"i:enter", "i:exit", "j:enter", "j:exit", "p"}));
}

TEST(Instruments, AnErrorInOneEndsThePass) {
  Names log;
  PassContext context;
  context.instruments = {std::make_shared<Recorder>(&log, "i", "before-p"), std::make_shared<Recorder>(&log, "j")};
  {
    const PassContext::Scope scope(context);
    EXPECT_THROW(Logging(&log, "p")(IRModule::Empty()), std::runtime_error);
  }
  EXPECT_EQ(log, (Names{"i:enter", "j:enter", "i:exit", "j:exit"}));
}

TEST(Config, KeysOfUsers) {
  RegisterConfigKey({"test.depth", ConfigKey::kInt, 9, "", "for this test"});
  RegisterConfigKey({"test.name", ConfigKey::kString, 0, "none", "for this test"});
  PassContext context;
  EXPECT_EQ(context.GetInt("test.depth"), 9);
  EXPECT_EQ(context.GetString("test.name"), "none");
  context.SetConfig("test.name", String("some"));
  EXPECT_EQ(context.GetString("test.name"), "some");
  EXPECT_EQ(ErrorOf([] {
              RegisterConfigKey({"tvm_compat", ConfigKey::kBool, 0, "", ""});
            }),
            "UsageError: there is a configuration key \"tvm_compat\" already");
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
    EXPECT_NE(error.message().find("did you mean \"relax.FuseOps.max_depth\"?; the keys are: tvm_compat, "),
              std::string::npos)
        << error.message();
  }
}

TEST(Config, WrongTypeIsAnError) {
  PassContext context;
  EXPECT_THROW(context.SetConfig("relax.FuseOps.max_depth", String("many")), ffi::Error);
  for (const Any& negative : {Any(int64_t{-1}), Any(String("-1"))}) {
    const std::string error = ErrorOf([&] { context.SetConfig("relax.FuseOps.max_depth", negative); });
    EXPECT_EQ(error.find("UsageError: configuration key relax.FuseOps.max_depth takes an integer from 0, not "), 0U)
        << error;
  }
  context.SetConfig("relax.FuseOps.max_depth", int64_t{0});
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
  context.instruments = {std::make_shared<PrintInstrument>(
      PrintInstrument::Options{.before = {"b"}, .after = {"a"}}, [](const IRModule&) { return "text"; }, &out)};
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a"), Logging(&log, "b")})(IRModule::Empty());
  EXPECT_EQ(out.str(), "# ----- after a\ntext\n# ----- before b\ntext\n");
}

TEST(Instruments, PrintsBeforeAndAfterAllButLists) {
  Names log;
  std::ostringstream out;
  PassContext context;
  context.instruments = {std::make_shared<PrintInstrument>(
      PrintInstrument::Options{.before_all = true, .after_all = true}, [](const IRModule&) { return "text"; }, &out)};
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a"), Logging(&log, "b")})(IRModule::Empty());
  EXPECT_EQ(out.str(),
            "# ----- before a\ntext\n# ----- after a\ntext\n# ----- before b\ntext\n# ----- after b\ntext\n");
}

TEST(PrintIR, PrintsWhereItStands) {
  Names log;
  std::ostringstream out;
  const auto print = [](const IRModule&) { return "text\n"; };
  Sequential({Logging(&log, "a"), PrintIR(print, &out, "after a"), PrintIR(print, &out)})(IRModule::Empty());
  EXPECT_EQ(out.str(), "# ----- after a\ntext\ntext\n");
}

TEST(Instruments, DumpsEachChangeOnce) {
  const TemporaryFolder temporary;
  const std::string folder = temporary / "dumped";
  Names log;
  PassContext context;
  context.instruments = {std::make_shared<DumpInstrument>(folder, [](const IRModule&) { return "m"; })};
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
  context.instruments = {
      std::make_shared<VerifyInstrument>([](const IRModule&) { DEUTERON_THROW(ModelError) << "bad var"; })};
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
  const auto bisect = std::make_shared<BisectInstrument>(2);
  context.instruments = {bisect};
  const PassContext::Scope scope(context);
  Sequential({Logging(&log, "a"), Logging(&log, "b"), Logging(&log, "c")})(IRModule::Empty());
  EXPECT_EQ(log, (Names{"a", "b"}));
  EXPECT_EQ(bisect->Report(), "bisect:   1 ran     a\nbisect:   2 ran     b\nbisect:   3 skipped c\n");
}

}  // namespace
}  // namespace deuteron::transform
