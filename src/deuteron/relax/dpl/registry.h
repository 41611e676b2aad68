/// \file
/// The patterns of all back ends, by name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "deuteron/relax/dpl/fusion_pattern.h"

namespace deuteron::relax {

/// Adds patterns for the life of the process; those registered later have higher priority. A UsageError for one without
/// a name or a pattern. Thread safe, as are the look-ups.
void RegisterPatterns(const std::vector<FusionPattern>& patterns);
/// Removes all patterns of these names.
void RemovePatterns(const std::vector<std::string>& names);
/// Those whose names begin with `prefix`, the highest priority first.
std::vector<FusionPattern> GetPatternsWithPrefix(std::string_view prefix);
/// The pattern of that name, the one registered last if there are several; nothing if there is none.
std::optional<FusionPattern> GetPattern(std::string_view name);

}  // namespace deuteron::relax
