/// \file
/// What the control group of this process, and the groups around it, may have.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace deuteron {

/// Calls `visit` with the folder of every control group that this process is in and that has `controller` ("cpu"; of
/// version 2 all), from the innermost outwards.
void ForEachCgroup(const std::string& controller, const std::function<void(const std::string& folder)>& visit);

/// The bytes that the process may still take before the system would end it, what can be dropped of files counted as
/// free; INT64_MAX without a limit.
int64_t MemoryLeftInCgroup();

}  // namespace deuteron
