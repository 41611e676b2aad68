/// \file
/// Delta reduction: the least module for which a predicate still holds.
#pragma once

#include <functional>
#include <string>

#include "deuteron/ir/module.h"

namespace deuteron {

/// Whether a candidate still shows what is looked for. Exceptions count as no.
using StillFails = std::function<bool(const IRModule&)>;

struct ReduceOptions {
  int64_t max_candidates = 2000;
};

/// Reduces "main" of `module`: to one result, to fewer bindings (A. Zeller, R. Hildebrandt, "Simplifying and isolating
/// failure-inducing input", 2002), to parameters in place of constants.
IRModule ReduceBindings(IRModule module, const StillFails& still_fails, const ReduceOptions& options = {});

/// Reduces the sizes in a module: replaces whole numbers in its text by smaller ones, all of one value at once. Returns
/// text that parses to a module that still fails (`module` itself as text where nothing can be reduced).
std::string ReduceSizes(const IRModule& module, const StillFails& still_fails, const ReduceOptions& options = {});

}  // namespace deuteron
