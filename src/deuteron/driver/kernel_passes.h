/// \file
/// Passes over the loop-level functions of a module, for a target, and passes for people.
#pragma once

#include <string>
#include <unordered_map>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/target/target.h"

namespace deuteron {

/// Attribute of a loop-level function: the text of the target that it is scheduled for, where that is another one.
inline constexpr const char* kScheduleTarget = "schedule_target";

/// Schedules every loop-level function for `target` (tir/schedule/rules); what was chosen goes into the decision log.
transform::Pass ScheduleForCPU(const Target& target);

/// The loop-level functions of a module, and only they, lowered for code generation, under the symbols that byte code
/// calls them by. `expected_calls`: by symbol; of others any number.
transform::Pass LowerKernels(const Target& target, const std::unordered_map<std::string, double>& expected_calls = {});

/// Generates machine code and byte code, and returns the module as it is: for errors of code generation.
transform::Pass GenerateCode(const Target& target);

/// Prints the module on standard error.
transform::Pass PrintIR(const std::string& header = "");

}  // namespace deuteron
