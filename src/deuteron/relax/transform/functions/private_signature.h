/// \file
/// Changing the parameters of private functions together with all of their calls.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// What becomes of one function.
struct NewSignature {
  Function function;
  /// The arguments of a call, from those that it had.
  std::function<Array<Expr>(const Array<Expr>& args)> arguments;
};

/// Private relax functions (no global_symbol) that are only ever called: those whose signature may change.
std::vector<std::pair<GlobalVar, Function>> CallableOnlyFunctions(const IRModule& module);

/// Puts the new functions in place and rewrites every call of them. Arguments that are not leaves (projections)
/// are bound to new variables before the call.
IRModule ChangeSignatures(IRModule module, std::unordered_map<const Object*, NewSignature> signatures);

}  // namespace deuteron::relax
