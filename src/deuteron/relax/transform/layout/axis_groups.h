/// \file
/// Which axes of a tensor a reshape splits and merges.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Axes of a tensor and those that a reshape makes of them, both side by side, none further apart than need be.
struct AxisGroup {
  std::vector<int64_t> before, after;
};

/// The groups of a reshape from a tensor of type `from` to one of type `to`, in order; nothing if they are not known.
std::optional<std::vector<AxisGroup>> AxisGroups(const Type& from, const Type& to, arith::Analyzer* analyzer);

}  // namespace deuteron::relax
