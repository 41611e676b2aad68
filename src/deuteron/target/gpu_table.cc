#include "deuteron/target/gpu_table.h"

#include <algorithm>
#include <charconv>

namespace deuteron {
namespace {

struct GpuEntry {
  int generation;
  int64_t processors;
};

/// As the makers' data sheets have them, oldest first.
constexpr GpuEntry kGpus[] = {
    {70, 80},    // V100
    {75, 72},    // Titan RTX
    {80, 108},   // A100
    {86, 84},    // A40
    {89, 142},   // L40
    {90, 132},   // H100
    {100, 148},  // B200
    {120, 188},  // RTX PRO 6000
};

}  // namespace

int64_t ProcessorsOfGpu(std::string_view architecture) {
  const size_t digits = std::min(architecture.find_first_of("0123456789"), architecture.size());
  int generation = 0;
  std::from_chars(architecture.data() + digits, architecture.data() + architecture.size(), generation);
  int64_t processors = kGpus[0].processors;
  for (const GpuEntry& gpu : kGpus) {
    if (gpu.generation <= generation) processors = gpu.processors;
  }
  return processors;
}

}  // namespace deuteron
