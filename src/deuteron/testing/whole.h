/// \file
/// How much tests do: all they can, or what fits into the time of every change.
#pragma once

#include "deuteron/support/environment.h"

namespace deuteron {

/// `./dev test --whole`. Without it those cases are left out that take long and have more of what others have.
inline bool IsWholeTest() { return !EnvironmentVariable("DEUTERON_WHOLE").empty(); }

/// Why a case is left out.
constexpr const char* kOnlyWhole = "only by `./dev test --whole`";

}  // namespace deuteron
