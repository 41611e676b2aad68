/// \file
/// Checks a compilation pass by pass: after each, the interpreter must compute what it computed before, and in the end
/// so must the compiled code. Of large modules code without fusion and schedules is compiled and run instead.
#pragma once

#include <functional>
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
  /// Modules whose products and convolutions are of more operations are not interpreted (Oracle in equivalence.h).
  double most_interpreted = 5e7;
  /// Called as work begins on the imported module, before each stage; may be empty.
  std::function<void(const std::string&)> progress;
};

/// Runs the pipeline on "main" of `module` with random inputs, stage by stage. Stops at the first stage that fails.
std::vector<VerifiedStage> Verify(IRModule module, const VerifyOptions& options);

/// What `progress` is told before the imported module is run.
std::string DescribeOracle(bool interprets);

/// The passes that are checked: the graph's, the schedules and those that plan memory.
std::vector<transform::Pass> VerifiedPasses(const CompileOptions& options);

}  // namespace deuteron
