/// \file
/// `--backend auto`: whether a library or generated code computes a module.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "deuteron/driver/compile.h"
#include "deuteron/ir/transform/decision_log.h"

namespace deuteron {

struct BackendChoice {
  /// "none", or the name of a library.
  std::string backend = "none";
  /// Why, for the decision log: a reason of the kind kChosen, or kFusionDisabled.
  transform::Decision decision;
  /// Of that back end, if it was compiled to be measured.
  std::optional<Executable> executable;
};

/// Compiles an imported module for a back end.
using CompileFor = std::function<Executable(const std::string& backend, IRModule imported)>;

/// Compiles `*imported` both ways and runs each in turn on random inputs, where a library could have something to win:
/// products and convolutions of some tens of millions of operations. Symbolic dimensions are measured at a small
/// extent. Where both were compiled nothing is left of `*imported`, so that its weights are held once.
BackendChoice ChooseBackend(IRModule* imported, const CompileOptions& options, const CompileFor& compile);

/// The choice between back ends whose fastest runs took so long.
BackendChoice CompareTimes(double library_seconds, double generated_seconds);

/// Operations (two a multiplication with addition) of all convolutions and matrix products; symbolic dimensions count
/// as `symbolic_extent`.
double HeavyWork(const IRModule& module, int64_t symbolic_extent);

}  // namespace deuteron
