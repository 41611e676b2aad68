/// \file
/// Schedule rules: how each class of function becomes a fast loop nest on a CPU.
///
/// A rule is a list of schedule primitives (../schedule.h) for one class of function. Rules are tried in the order of
/// the list in rules.cc; the first that applies schedules the function, the last always applies. All rules keep the
/// function's meaning; one that reassociates floating-point reductions says so.
#pragma once

#include <string>
#include <vector>

#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::tir {

struct ScheduledFunc {
  PrimFunc func;
  /// Name of the rule that made it; "none" for a function that is no graph of blocks.
  std::string rule;
};

/// One rule. `apply` returns false, having changed nothing that counts, if the function is not of its class.
struct ScheduleRule {
  const char* name;
  const char* description;
  bool (*apply)(Schedule* schedule, const Target& target);
};

/// All rules, in the order in which they are tried.
const std::vector<ScheduleRule>& ScheduleRules();

/// `func` scheduled for `target` by the first rule that applies.
ScheduledFunc ApplyScheduleRules(const PrimFunc& func, const Target& target);

}  // namespace deuteron::tir
