/// \file
/// What the flags on passes ask for: printing, timing, verifying, bisecting.
#pragma once

#include <memory>

#include "deuteron/ir/transform/instruments.h"
#include "tools/options.h"

namespace deuteron::tools {

/// The instruments of one run of a verb.
class PassInstruments {
 public:
  /// A UsageError if a flag names a pass that does not exist. `print` gives the text that is printed.
  PassInstruments(const ModelOptions& options, transform::ModulePrinter print);
  /// Verifies a module unless the flags say not to.
  void Verify(const IRModule& module) const;
  void AddTo(CompileOptions* options) const;
  /// Prints on standard error what was measured, after the run.
  void Report() const;

 private:
  transform::ModuleVerifier verify_;
  std::shared_ptr<transform::TimingInstrument> timing_;
  std::shared_ptr<transform::BisectInstrument> bisect_;
  std::vector<std::shared_ptr<transform::PassInstrument>> all_;
};

}  // namespace deuteron::tools
