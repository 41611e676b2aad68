/// \file
/// What whoever writes a block may ask of its schedule.
#pragma once

namespace deuteron::tir {

/// Of a block that sums: at most so many steps (int64) are added up one after the other; the rest follows as further such
/// parts. For sums whose error is amplified by what is computed of them.
inline constexpr const char* kSumSteps = "sum_steps";

}  // namespace deuteron::tir
