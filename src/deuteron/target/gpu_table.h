/// \file
/// What is known of NVIDIA's GPUs without asking one, by the names that nvcc gives their architectures.
#pragma once

#include <cstdint>
#include <string_view>

namespace deuteron {

/// Streaming multiprocessors of the largest product of an architecture ("sm_90", "sm_90a", "compute_90"); of one that
/// the table has not, those of the one before it.
int64_t ProcessorsOfGpu(std::string_view architecture);

}  // namespace deuteron
