/// \file
/// The passes over the functions of a module: their parameters, results, and calls of each other.
#pragma once

#include "deuteron/ir/transform/pass.h"

namespace deuteron::relax {

using transform::Pass;

/// Puts the bodies of private functions in place of their calls.
Pass InlinePrivateFunctions();
/// Makes local functions functions of the module.
Pass LambdaLift();

/// Passes the fields of tuple parameters of private functions one by one.
Pass ExpandTupleArguments();
/// Removes parameters of private functions that nothing uses.
Pass RemoveUnusedParameters();
/// Makes kernels that differ in numbers only one, where few runs are expected.
Pass ShareKernels();

}  // namespace deuteron::relax
