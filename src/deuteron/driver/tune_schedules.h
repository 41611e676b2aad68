/// \file
/// Schedules chosen by measuring them on this machine.
#pragma once

#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/target/target.h"

namespace deuteron {

/// Measures, of the loop-level functions of static shapes that the cost model expects to take the most time, what the
/// schedule rules make of them for `target` and for machines a little unlike it (half and twice its caches, half its
/// vectors and registers, threads that start sooner or later), and marks a function with the target whose schedule was
/// the fastest (kScheduleTarget): the schedules are the rules' own, so all of them are right. Ends after the
/// configuration's `tune_seconds`; what was not come to is scheduled for `target`. Winners are kept in `tune_folder` by
/// the function and the target, and not measured again. Does nothing with 0 seconds, or where code for `target` does
/// not run.
transform::Pass TuneSchedules(const Target& target);

/// `target`, and those that are a little unlike it.
std::vector<Target> TuningTargets(const Target& target);

}  // namespace deuteron
