/// \file
/// What modules compute: ours, another's, and the one that both were made of.
#pragma once

#include <string>

#include "deuteron/ir/module.h"

namespace deuteron::interop {

/// Registers the functions that generated modules call by name: interop.packed, interop.dps and the like.
void RegisterFunctions();

/// Runs "main" (or, where there is none, each public function) of `module` and of what passes have made of it, here
/// (`ours`) and elsewhere (`theirs`, a text), by the interpreter on the same random arguments. Where parameters were
/// lifted to "main_transform_params", that goes first. Says what `theirs` computes: "same\n", or "differs", "not run"
/// (theirs) or "nothing" (no function of the module itself can be interpreted) and why. A ModelError if `ours` computes
/// something else than `module`.
std::string CompareWith(const IRModule& module, const IRModule& ours, const std::string& theirs);

}  // namespace deuteron::interop
