/// \file
/// The walk of one module through the compiler, a stage at a time:
///
///     import ─▶ the choice of a back end ─▶ library ─▶ fuse ─▶ schedule ─▶ memory ─▶ code
///
/// Compile and Explain take it. No stage is run twice on a module, but for one case: where both back ends have to be
/// measured to be compared, each gets a walk of its own from the imported module on, and the better one is kept.
#pragma once

#include <optional>
#include <string>

#include "deuteron/driver/choose_backend.h"
#include "deuteron/driver/compile.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/target/target.h"

namespace deuteron {

/// Target and context of a compilation are current in this thread while it lives.
class Compilation {
 public:
  /// `options` must outlive it.
  explicit Compilation(const CompileOptions& options);
  Compilation(const Compilation&) = delete;

  /// Stage 1: tidies a graph as it was read.
  IRModule Import(IRModule module);
  /// Stage 2: which back end the stages after it compile for; recorded by RecordChoice. With CompileOptions::backend
  /// "auto" it decides, else there is nothing to decide. Gives the executable if that has been made to be measured and
  /// no instrument wants to see how: it leaves nothing of `*imported`, and there are no stages left.
  std::optional<Executable> Choose(IRModule* imported);
  /// Stages 3 to 5: from an imported graph to scheduled kernels.
  IRModule ToKernels(IRModule imported);
  /// Stages 6 and 7: memory and code.
  Executable ToCode(IRModule kernels);

  transform::DecisionLog& decisions() { return *scope_.context().decisions; }

 private:
  /// A walk beside `walk`, from where that stands, for `backend`; no instruments see it.
  Compilation(Compilation& walk, const std::string& backend);
  IRModule Run(const char* pipeline, const char* what, IRModule module);

  const CompileOptions& options_;
  Target target_;
  TargetScope target_scope_;
  transform::PassContext::Scope scope_;
};

}  // namespace deuteron
