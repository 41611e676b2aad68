/// \file
/// How many vectors of a loop are worth computing at once.
#pragma once

#include <cstdint>

#include "deuteron/target/machine.h"
#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

/// Vectors of the iterations of `body` that are best computed side by side: 1, or as many as hide the latency where it
/// calls functions one after the other. Each waits for the one before, longer than a processor looks ahead; past a
/// single one it sees the next iteration by itself.
int64_t VectorsSideBySide(const Stmt& body, const Machine& machine);

}  // namespace deuteron::tir
