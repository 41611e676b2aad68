/// \file
/// The walk of one module through the compiler, a stage at a time:
///
///     import ─▶ library ─▶ fuse ─▶ schedule ─▶ memory ─▶ code
///
/// Compile and Explain take it. No stage is run twice on a module.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/compile.h"
#include "deuteron/driver/compile_cache.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/target/target.h"

namespace deuteron {

/// What generating code gives, of one target: all that an artefact holds.
struct GeneratedCode {
  codegen::CompiledProgram compiled;
  /// Objects with its kernels.
  std::shared_ptr<const std::vector<std::string>> objects;
  /// Without notes.
  runtime::Manifest manifest;
  std::shared_ptr<transform::DecisionLog> decisions;
};

/// Target and context of a compilation are current in this thread while it lives.
class Compilation {
 public:
  /// `options` must outlive it.
  explicit Compilation(const CompileOptions& options);
  Compilation(const Compilation&) = delete;

  /// Stage 1: tidies a graph as it was read.
  IRModule Import(IRModule module);
  /// Stage 2: from an imported graph to one of which a library has its parts. The library is opened first, or, if its
  /// files are there, `meanwhile`, and nobody has seen then whether it could be.
  IRModule ToShared(IRModule imported, bool meanwhile = false);
  /// Stage 3: the rest as fused kernels.
  IRModule ToFused(IRModule shared);
  /// Stage 4: kernels with their schedules.
  IRModule ToScheduled(IRModule fused);
  /// Stages 5 and 6: memory and code. Puts it into `cache`, if that is not null, under `key`. Code for another machine
  /// than this can be saved, not run.
  Executable ToCode(IRModule kernels, CompileCache* cache = nullptr, const std::string& key = "");

  /// Compile, of several targets.
  static Executable OfSeveral(const IRModule& module, const CompileOptions& options,
                              const std::vector<std::string>& targets);

  const Target& target() const { return target_; }
  transform::DecisionLog& decisions() { return *scope_.context().decisions; }

 private:
  GeneratedCode Generate(IRModule kernels);
  IRModule Run(const char* pipeline, const char* what, IRModule module);

  const CompileOptions& options_;
  LimitScope limit_scope_;
  Target target_;
  TargetScope target_scope_;
  transform::PassContext::Scope scope_;
};

}  // namespace deuteron
