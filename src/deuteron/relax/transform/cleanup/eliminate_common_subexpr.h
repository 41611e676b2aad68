/// \file
/// Elimination of common subexpressions in one function, for passes that leave some behind.
#pragma once

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// What the pass EliminateCommonSubexpr does to the function `name` of `module`.
Function EliminateCommonSubexpr(const Function& function, const String& name, const IRModule& module, bool call_only,
                                const transform::PassContext& context);

}  // namespace deuteron::relax
