/// \file
/// The named stages of compilation, as lists of passes: what runs, in which order.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/target/target.h"

namespace deuteron {

/// From an imported module to loop-level functions, fused if `fuse`.
std::vector<transform::Pass> GraphPasses(bool fuse);

/// Schedules every loop-level function for `target` (tir/schedule/rules); what was chosen goes into the decision log.
transform::Pass SchedulePass(const Target& target);

/// From calls of kernels to calls on planned memory.
std::vector<transform::Pass> MemoryPasses();

/// The loop-level functions of a module, and only they, lowered for code generation, under the symbols that byte code
/// calls them by.
transform::Pass LowerKernels(const Target& target);

/// The decision log as JSON, kept in artefacts.
std::string DecisionsToJson(const transform::DecisionLog& log);

}  // namespace deuteron
