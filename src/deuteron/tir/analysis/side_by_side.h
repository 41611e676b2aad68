/// \file
/// How many vectors of a loop are worth computing at once.
#pragma once

#include <cstdint>

#include "deuteron/target/machine.h"
#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

/// Calls of functions of floats, such as exp, in `body`.
int64_t CountFunctions(const Stmt& body);

/// Vectors of the iterations of `body` that are best computed side by side: 1, or as many as hide the latency where it
/// calls a function. Each step of one waits for the one before, and a processor looks ahead no further than the
/// instructions of two.
int64_t VectorsSideBySide(const Stmt& body, const Machine& machine);

}  // namespace deuteron::tir
