/// \file
/// Shorter copies of what seldom runs (partition_loops.cc).
#pragma once

#include <unordered_set>

#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

/// Local buffers that a statement allocates, in which nothing is summed up: that they stay in registers saves little.
std::unordered_set<const Object*> PassedOn(const Stmt& stmt);

/// The statement with unrolled loops serial on which some of `conditions` (by their nodes) depend: those that tell
/// where something is stored, if that, and what it is made of, is in memory or in local buffers that are PassedOn;
/// of those that do not, all if `is_rare`. It is shorter by as many times, and loops end where their conditions cease
/// to hold.
Stmt Rolled(const Stmt& stmt, const std::unordered_set<const Object*>& conditions, bool is_rare);

}  // namespace deuteron::tir
