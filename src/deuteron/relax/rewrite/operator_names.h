/// \file
/// Names of operators in the arguments of passes.
#pragma once

#include <string>

namespace deuteron::relax {

/// A UsageError, with the nearest name that exists, unless `name` is that of an operator: "relax.nn.conv2d". `what`
/// names the pass and its argument.
void RequireOperator(const char* what, const std::string& name);

}  // namespace deuteron::relax
