/// \file
/// The verifier of loop-level functions.
///
/// verify_definitions.cc  scopes, types
/// verify_accesses.cc     bounds, regions of blocks, domains of iterators
/// verify_races.cc        loops whose iterations may run at once
#pragma once

#include <string>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Everything that is wrong with `func` (at most `limit` findings), empty if it is well formed:
///  - every variable and buffer is defined once, before its uses, and used in its scope; the shapes of parameters
///    mention only variables that a parameter defines;
///  - operands, stores, indices, conditions and loop bounds have the types they must have, arguments of intrinsics
///  their
///    number and types;
///  - a block's iterators stay within their domains, its body within the regions that it declares (the root block
///    declares none); what it reads of its own output may be declared as written only; an `init` stands only where
///    there is a reduction, and does not use its iterators;
///  - no access is out of its buffer's bounds;
///  - iterations of a parallel, vectorised or thread-bound loop do not touch an element that another one writes,
///    and no reduction is over such a loop (threadIdx excepted: threads can cooperate).
///
/// The last three rules report what goes wrong at concrete values of the loop variables, which the message names:
/// correct code is never reported, wrong code that depends on data or on relations between symbolic dimensions is
/// not found. Linear in the size of the function for loop nests of bounded depth.
std::vector<std::string> FindViolations(const PrimFunc& func, size_t limit = 8);

}  // namespace deuteron::tir
