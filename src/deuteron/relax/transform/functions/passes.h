/// \file
/// The passes over the functions of a module: their parameters, results, and calls of each other.
#pragma once

#include <map>
#include <string>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::relax {

using transform::Pass;

/// Replaces parameters of a function, by name, by constants.
Pass BindParams(std::string func_name, std::map<std::string, Tensor> params);
/// Replaces symbolic variables, by name, by numbers: in one function, or in all.
Pass BindSymbolicVars(std::map<std::string, int64_t> binding_map, std::string func_name = "");
/// Puts the bodies of private functions in place of their calls.
Pass InlinePrivateFunctions();
/// Makes local functions functions of the module.
Pass LambdaLift();

/// Passes the fields of tuple parameters of private functions one by one.
Pass ExpandTupleArguments();
/// Removes parameters of private functions that nothing uses.
Pass RemoveUnusedParameters();
/// Removes fields of private functions' results that nothing uses, then what is trivial or dead.
Pass RemoveUnusedOutputs();

}  // namespace deuteron::relax
