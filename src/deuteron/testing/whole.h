/// \file
/// How much tests do: all they can, or what fits into the time of every change.
#pragma once

#include <set>
#include <string>

#include "deuteron/support/environment.h"

namespace deuteron {

/// Whether a case is left out, one of those that take long and have `more` of what others have: `./dev test --whole`
/// has them.
inline bool IsOnlyWhole(const std::string& name, const std::set<std::string>& more) {
  return EnvironmentVariable("DEUTERON_WHOLE").empty() && more.count(name) != 0;
}

/// Why a case is left out.
constexpr const char* kOnlyWhole = "only by `./dev test --whole`";

}  // namespace deuteron
