/// \file
/// The named stages of compilation, as lists of passes: what runs, in which order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/target/target.h"

namespace deuteron {

/// A named list of passes.
struct PipelineEntry {
  const char* name;
  const char* description;
  /// As ParsePasses reads it; `@name` stands for another pipeline.
  const char* passes;
};
/// All pipelines.
std::span<const PipelineEntry> AllPipelines();
/// The passes of a pipeline as text that ParsePasses reads, other pipelines written out. Without `fuse` FuseOps is at
/// level 0, and other passes that merge operators are left out. `backend`: the library that gets what it can compute;
/// "none" or "auto" (which Compile decides before): generated code does all. A UsageError if there is no pipeline of
/// that name.
std::string PipelineText(std::string_view name, bool fuse = true, std::string_view backend = "none");
std::vector<transform::Pass> Pipeline(std::string_view name, bool fuse = true, std::string_view backend = "none");

/// From an imported module to loop-level functions, fused if `fuse`: the pipeline "graph".
std::vector<transform::Pass> GraphPasses(bool fuse, std::string_view backend = "none");

/// Schedules every loop-level function for `target` (tir/schedule/rules); what was chosen goes into the decision log.
transform::Pass SchedulePass(const Target& target);

/// From calls of kernels to calls on planned memory: the pipeline "memory".
std::vector<transform::Pass> MemoryPasses();

/// The loop-level functions of a module, and only they, lowered for code generation, under the symbols that byte code
/// calls them by.
transform::Pass LowerKernels(const Target& target);

/// Generates machine code and byte code, and returns the module as it is: for errors of code generation.
transform::Pass GenerateCode(const Target& target);

/// Prints the module on standard error.
transform::Pass PrintIR(const std::string& header = "");

}  // namespace deuteron
