/// \file
/// The walk of one module through the compiler, a stage at a time:
///
///     import ─▶ library ─▶ fuse ─▶ schedule ─▶ memory ─▶ code
///
/// Compile and Explain take it. No stage is run twice on a module.
#pragma once

#include "deuteron/driver/compile.h"
#include "deuteron/driver/compile_cache.h"
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
  /// Stages 2 to 4: from an imported graph to scheduled kernels.
  IRModule ToKernels(IRModule imported);
  /// Stages 5 and 6: memory and code. Puts it into `cache`, if that is not null, under `key`.
  Executable ToCode(IRModule kernels, CompileCache* cache = nullptr, const std::string& key = "");

  const Target& target() const { return target_; }
  transform::DecisionLog& decisions() { return *scope_.context().decisions; }

 private:
  IRModule Run(const char* pipeline, const char* what, IRModule module);

  const CompileOptions& options_;
  Target target_;
  TargetScope target_scope_;
  transform::PassContext::Scope scope_;
};

}  // namespace deuteron
