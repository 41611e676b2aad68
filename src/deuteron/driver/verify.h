/// \file
/// Checks a compilation pass by pass: after each, the interpreter must compute what it computed before, and in the end
/// so must the compiled code.
#pragma once

#include <string>
#include <vector>

#include "deuteron/driver/compile.h"

namespace deuteron {

/// What one stage did to the results.
struct VerifiedStage {
  /// Name of the pass, or "compiled code".
  std::string name;
  /// Greatest |difference| to the imported module's results, as a share of the greatest |value| of that output.
  double error = 0;
  /// Empty if all is well; else what is wrong.
  std::string problem;
};

struct VerifyOptions {
  CompileOptions compile;
  uint64_t seed = 0;
  /// Extent of every symbolic dimension.
  int64_t symbolic_extent = 3;
  /// Greatest error allowed for floats; integers and booleans must be equal.
  double tolerance = 1e-4;
};

/// Runs the pipeline on "main" of `module` with random inputs, stage by stage. Stops at the first stage that fails.
std::vector<VerifiedStage> Verify(IRModule module, const VerifyOptions& options);

/// The passes that are checked: the graph's, the schedules and those that plan memory.
std::vector<transform::Pass> VerifiedPasses(const CompileOptions& options);

}  // namespace deuteron
