/// \file
/// For tests of passes that ask a rule of the schedule before they merge (FuseWindows, FuseProducts): modules as text,
/// and what is expected of them on machines of small caches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/driver/verify.h"
#include "deuteron/script/parser.h"
#include "deuteron/target/target.h"

namespace deuteron {

/// A binding of `count` numbers of this shape.
inline std::string Numbers(const std::string& name, const std::string& shape, int64_t count) {
  return name + " = R.sin(R.reshape(R.arange(0, " + std::to_string(count) + ", 1, \"float32\"), R.shape([" + shape +
         "])))";
}

/// A module of a function of `x` that binds these, the last of them `gv`.
inline std::string ModuleOf(const std::string& shape, const std::vector<std::string>& bindings) {
  std::string text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((" + shape +
                     "), \"float32\")):\n        with R.dataflow():\n";
  for (const std::string& binding : bindings) text += "            " + binding + "\n";
  return text + "            R.output(gv)\n        return gv\n";
}

/// The pass merges once, the schedule rule is taken, and the scheduled module computes what the operators do, on
/// several machines with `caches` (options of a target).
inline void ExpectMergedAndScheduled(const std::string& text, const std::string& pass, const std::string& rule,
                                     const std::string& caches) {
  for (const char* cpu : {"llvm -mcpu=x86-64-v4 -threads=2", "llvm -mcpu=x86-64-v3 -threads=1",
                          "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -threads=2"}) {
    SCOPED_TRACE(cpu);
    const TargetScope target_scope(Target::Parse(cpu + caches));
    transform::PassContext context;
    transform::PassContext::Scope scope(context);
    const IRModule module = script::ParseModule(text);
    const Arguments arguments = RandomArguments(module, 5, 23);
    const IRModule scheduled = MakePipeline("schedule")(MakePipeline("graph")(module));
    int fused = 0;
    std::vector<std::string> rules;
    for (const transform::Decision& decision : context.decisions->decisions()) {
      if (decision.pass == pass) {
        EXPECT_EQ(decision.reason, transform::Reason::kFused) << decision.message;
        ++fused;
      }
      if (decision.pass == "ScheduleForCPU") rules.emplace_back(decision.object);
    }
    EXPECT_EQ(fused, 1);
    EXPECT_NE(std::find(rules.begin(), rules.end(), rule), rules.end());
    EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(scheduled, arguments), 1e-4).problem, "");
  }
}

/// Every stage of the pipeline and the compiled code compute the same.
inline void ExpectVerified(const std::string& text, const std::string& caches) {
  for (const char* cpu : {"llvm -mcpu=x86-64-v3 -threads=2", "llvm -mcpu=x86-64-v2 -threads=1"}) {
    VerifyOptions options{.compile = {.threads = 2, .backend = "none"}};
    options.compile.target = cpu + caches;
    for (const VerifiedStage& stage : Verify(script::ParseModule(text), options)) {
      EXPECT_EQ(stage.problem, "") << stage.name << " for " << cpu;
    }
  }
}

}  // namespace deuteron
