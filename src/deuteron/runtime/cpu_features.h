/// \file
/// What this machine's processor can do, by the names that LLVM gives the features.
#pragma once

#include <string>
#include <vector>

namespace deuteron::runtime {

/// Features of this CPU that the operating system supports too ("avx2", "avx512f", "fma"), sorted.
const std::vector<std::string>& HostCpuFeatures();
/// Those of `required` that this CPU lacks.
std::vector<std::string> MissingCpuFeatures(const std::vector<std::string>& required);

}  // namespace deuteron::runtime
