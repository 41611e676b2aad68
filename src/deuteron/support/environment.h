/// \file
/// What the process was started with.
#pragma once

#include <cstdlib>
#include <string>

namespace deuteron {

/// Empty if it is not set.
inline std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace deuteron
