/// \file
/// The decision log of a compilation without its code.
#pragma once

#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/report/size_expr.h"

namespace deuteron::report {

/// Runs the passes that decide (the graph's and the schedules) on `module`, and gives what they wrote into the log,
/// with the kernels' text.
transform::DecisionLog Explain(IRModule module, const CompileOptions& options);

/// The values that `shapes` (by input) give to the symbolic dimensions of `inputs`. A UsageError names an input that
/// does not exist, a rank that is another, or a symbol with two values.
Symbols BindSymbols(const std::vector<TensorInfo>& inputs, const std::map<std::string, std::vector<int64_t>>& shapes);

}  // namespace deuteron::report
