/// \file
/// The verifier of modules.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax {

/// One violated rule, with the place: `function "main", binding "lv3" (/layer1/conv1): …`.
using Violation = std::string;

/// Kernels that were found right, by identity: passes replace a few at a time, the others need no second look. Holding
/// them keeps passes from changing them in place.
using VerifiedKernels = std::unordered_set<tir::PrimFunc, ObjectPtrHash, ObjectPtrEqual>;

/// Everything that is wrong with `module` (at most `limit` findings), empty if it is well formed:
///  - every function of the module is under its own name; every GlobalVar mentioned exists;
///  - A-normal form: arguments of calls, fields of tuples and results are leaves;
///  - a variable is bound once, before its uses, and used in its scope: a DataflowVar in its block, a
///    variable of a branch in the branch; DataflowVars are bound in dataflow blocks only;
///  - every variable has a type; symbolic variables are defined, by a parameter or a match_cast, before use;
///  - a function's result may be of the type that it is declared to return: no known rank, extent or dtype differs;
///  - dataflow blocks hold no side effect and no control flow; a pure function has no impure call;
///  - call_tir passes as many tensors and scalars as its kernel takes; call_tir_inplace names arguments;
///  - kernels keep the rules of tir/analysis/verify.h.
/// Kernels in `verified` are taken as right; those found right are added.
std::vector<Violation> FindViolations(const IRModule& module, size_t limit = 8, VerifiedKernels* verified = nullptr);

/// A sentence for each function whose attribute `global_symbol` is not its name, which is allowed.
std::vector<std::string> OtherSymbols(const IRModule& module);

/// A ModelError that lists the violations, if there are any.
void CheckWellFormed(const IRModule& module, VerifiedKernels* verified = nullptr);

}  // namespace deuteron::relax
