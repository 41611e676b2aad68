#include "tools/pass_instruments.h"

#include <iostream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/relax/analysis/well_formed.h"

namespace deuteron::tools {
namespace {

/// Throws unless every name is that of a pass, or of a member of one ("MergePrimitives" of FuseTIR).
void CheckNames(const char* flag, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    try {
      CheckPassName(name);
    } catch (const tvm::ffi::Error& error) {
      DEUTERON_THROW(UsageError) << flag << ": " << error.message();
    }
  }
}

}  // namespace

PassInstruments::PassInstruments(const ModelOptions& options, transform::ModulePrinter print) {
  CheckNames("--print-before", options.print_before);
  CheckNames("--print-after", options.print_after);
  CheckNames("--disable-pass", options.compile.disabled_passes);
  CheckNames("--require-pass", options.compile.required_passes);
  transform::PrintInstrument::Options what;
  what.before.insert(options.print_before.begin(), options.print_before.end());
  what.after.insert(options.print_after.begin(), options.print_after.end());
  what.before_all = options.print_before_all;
  what.after_all = options.print_after_all;
  if (!what.before.empty() || !what.after.empty() || what.before_all || what.after_all) {
    all_.push_back(std::make_shared<transform::PrintInstrument>(what, std::move(print), &std::cerr));
  }
  if (options.verify_each) {
    const auto verified = std::make_shared<relax::VerifiedKernels>();
    verify_ = [verified](const IRModule& module) { relax::CheckWellFormed(module, verified.get()); };
    all_.push_back(std::make_shared<transform::VerifyInstrument>(verify_));
  }
  if (options.bisect_limit >= 0) {
    all_.push_back(bisect_ = std::make_shared<transform::BisectInstrument>(options.bisect_limit));
  }
  // The last: what the others do is not counted.
  if (options.time_passes) all_.push_back(timing_ = std::make_shared<transform::TimingInstrument>());
}

void PassInstruments::Verify(const IRModule& module) const {
  if (verify_) verify_(module);
}

void PassInstruments::AddTo(CompileOptions* options) const {
  options->instruments.insert(options->instruments.end(), all_.begin(), all_.end());
}

void PassInstruments::Report() const {
  if (bisect_ != nullptr) std::cerr << bisect_->Report();
  if (timing_ != nullptr) std::cerr << timing_->Table();
}

}  // namespace deuteron::tools
