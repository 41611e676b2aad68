/// \file
/// Cutting "main" of a module to pieces: what `bisect` looks into modules with, and reduces them by.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/relax/expr.h"

namespace deuteron {

/// The bindings of main's own blocks in order, those in branches left out.
std::vector<relax::Binding> MainBindings(const IRModule& module);

/// The module with another main: it returns `results` (variables bound at the top level of main, or its parameters), a
/// single one or a tuple. Bindings for which `is_cut` holds are left out; where their variables are still needed, they
/// become parameters. What nothing needs any more is left out: bindings, parameters, functions. Names of inputs and
/// outputs are dropped.
IRModule SliceMain(const IRModule& module, const std::vector<relax::Var>& results,
                   const std::function<bool(const relax::Binding&)>& is_cut = {});

/// The variables that hold tensors, in order.
std::vector<relax::Var> TensorVars(const IRModule& module);

/// The module with the constants of main as parameters.
IRModule ConstantsToParams(const IRModule& module);

/// The module without functions that main does not reach.
IRModule DropUnreached(IRModule module);

}  // namespace deuteron
