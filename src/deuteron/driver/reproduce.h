/// \file
/// From an internal error in a pass to a command that shows it again.
#pragma once

#include <string>

#include "deuteron/ir/transform/pass.h"

namespace deuteron {

/// How the error came about, besides what `failure` holds.
struct ReproduceOptions {
  /// As given to --target.
  std::string target = "native";
  /// Whether modules were verified after each pass.
  bool verify_each = false;
};

/// Writes the module to a file in a new folder of the folder for temporary files, and gives the command line, quoted
/// for a shell: `deuteron opt /tmp/deuteron-x1Y2z3/module.py --passes 'FuseOps,FuseTIR'`. A UsageError if it cannot be
/// written.
std::string WriteReproduction(const transform::PassFailure& failure, const ReproduceOptions& options = {});

}  // namespace deuteron
