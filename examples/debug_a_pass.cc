/// \file
/// Watching passes: PrintIR in a list of passes, an instrument of our own that prints before each pass, one that
/// vetoes, and those of the library that time, verify and write numbered files.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "deuteron/driver/constant_evaluator.h"
#include "deuteron/ir/transform/instruments.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/target/target.h"
#include "examples/article_model.h"

namespace {

using namespace deuteron;  // NOLINT(google-build-using-namespace): as its user would write
using transform::PassContext;
using transform::PassInfo;

std::string Text(const IRModule& module) {
  return script::Print(module, {.header = false, .elide_constants_over = 16}) + "\n";
}

/// Prints the name of each pass and the functions of the module before it runs.
class PrintBefore : public transform::PassInstrument {
 public:
  void RunBeforePass(const IRModule& module, const PassInfo& info) override {
    std::string names;
    for (const auto& [var, func] : module->functions) names += " " + std::string(var->name_hint);
    std::cout << "Running pass: " << info.name << " on" << names << "\n";
  }
};

/// Keeps a pass from running.
class Veto : public transform::PassInstrument {
 public:
  explicit Veto(std::string name) : name_(std::move(name)) {}
  bool ShouldRun(const IRModule&, const PassInfo& info) override { return info.name != name_; }

 private:
  std::string name_;
};

}  // namespace

int main() {
  // PrintIR after FoldConstant shows what that did.
  const transform::Sequential seq({
      relax::FoldConstant(MakeConstantEvaluator()),
      transform::PrintIR(Text, &std::cout, "after FoldConstant"),
      relax::EliminateCommonSubexpr(),
      relax::LegalizeOps(),
      relax::AnnotateTIROpPattern(),
      relax::FuseOps(),
  });

  std::string folder = (std::filesystem::temp_directory_path() / "deuteron-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const auto timing = std::make_shared<transform::TimingInstrument>();
  PassContext context;
  context.opt_level = 3;
  context.instruments = {
      std::make_shared<PrintBefore>(),
      std::make_shared<Veto>("EliminateCommonSubexpr"),
      std::make_shared<transform::VerifyInstrument>([](const IRModule& module) { relax::CheckWellFormed(module); }),
      std::make_shared<transform::DumpInstrument>(folder, Text),
      timing,
  };
  IRModule mod = samples::Example();
  {
    const TargetScope target(Target::Parse("llvm -mcpu=x86-64-v3"));
    const PassContext::Scope scope(context);
    mod = seq(mod);
  }
  samples::ShowGraph("the result", mod);

  std::cout << "# timed:";
  for (const auto& row : timing->rows()) std::cout << " " << row.name;
  std::cout << "\n# written:";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) std::cout << " " << file;
  std::cout << "\n";
  std::filesystem::remove_all(folder);
}
