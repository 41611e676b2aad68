#include "deuteron/runtime/cpu_features.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#else
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace deuteron::runtime {
namespace {

#if defined(__aarch64__)
/// The kernel's word for it: /proc/cpuinfo may be that of the host of a program that emulates a CPU.
std::vector<std::string> ReadFeatures() {
  const unsigned long caps = getauxval(AT_HWCAP), more = getauxval(AT_HWCAP2);
  std::vector<std::string> features;
  const auto add = [&features](bool has, const char* name) {
    if (has) features.emplace_back(name);
  };
  add((more & HWCAP2_BF16) != 0, "bf16");
  add((caps & HWCAP_ASIMDDP) != 0, "dotprod");
  add((caps & HWCAP_FPHP) != 0 && (caps & HWCAP_ASIMDHP) != 0, "fullfp16");
  add((more & HWCAP2_I8MM) != 0, "i8mm");
  add((caps & HWCAP_ASIMD) != 0, "neon");
  add((caps & HWCAP_SVE) != 0, "sve");
  add((more & HWCAP2_SVE2) != 0, "sve2");
  return features;
}
#else
enum class Register { kEax, kEbx, kEcx, kEdx };

/// State that the operating system has to save for a feature: bits of XCR0.
constexpr uint64_t kNone = 0, kAvxState = 0x6, kAvx512State = 0xe6, kTileState = 0x60000;

struct Feature {
  const char* name;
  /// Where the CPU says that it has it.
  uint32_t leaf, subleaf;
  Register in;
  int bit;
  uint64_t state;
};

/// Intel's manual for software developers, volume 2, CPUID.
constexpr Feature kFeatures[] = {
    {"sse3", 1, 0, Register::kEcx, 0, kNone},
    {"ssse3", 1, 0, Register::kEcx, 9, kNone},
    {"fma", 1, 0, Register::kEcx, 12, kAvxState},
    {"sse4.1", 1, 0, Register::kEcx, 19, kNone},
    {"sse4.2", 1, 0, Register::kEcx, 20, kNone},
    {"movbe", 1, 0, Register::kEcx, 22, kNone},
    {"popcnt", 1, 0, Register::kEcx, 23, kNone},
    {"avx", 1, 0, Register::kEcx, 28, kAvxState},
    {"f16c", 1, 0, Register::kEcx, 29, kAvxState},
    {"hypervisor", 1, 0, Register::kEcx, 31, kNone},
    {"bmi", 7, 0, Register::kEbx, 3, kNone},
    {"avx2", 7, 0, Register::kEbx, 5, kAvxState},
    {"bmi2", 7, 0, Register::kEbx, 8, kNone},
    {"avx512f", 7, 0, Register::kEbx, 16, kAvx512State},
    {"avx512dq", 7, 0, Register::kEbx, 17, kAvx512State},
    {"avx512cd", 7, 0, Register::kEbx, 28, kAvx512State},
    {"avx512bw", 7, 0, Register::kEbx, 30, kAvx512State},
    {"avx512vl", 7, 0, Register::kEbx, 31, kAvx512State},
    {"avx512vbmi", 7, 0, Register::kEcx, 1, kAvx512State},
    {"avx512vbmi2", 7, 0, Register::kEcx, 6, kAvx512State},
    {"avx512vnni", 7, 0, Register::kEcx, 11, kAvx512State},
    {"avx512bitalg", 7, 0, Register::kEcx, 12, kAvx512State},
    {"avx512vpopcntdq", 7, 0, Register::kEcx, 14, kAvx512State},
    {"amx-bf16", 7, 0, Register::kEdx, 22, kTileState},
    {"avx512fp16", 7, 0, Register::kEdx, 23, kAvx512State},
    {"amx-tile", 7, 0, Register::kEdx, 24, kTileState},
    {"amx-int8", 7, 0, Register::kEdx, 25, kTileState},
    {"avxvnni", 7, 1, Register::kEax, 4, kAvxState},
    {"avx512bf16", 7, 1, Register::kEax, 5, kAvx512State},
    {"amx-fp16", 7, 1, Register::kEax, 21, kTileState},
    {"lzcnt", 0x80000001, 0, Register::kEcx, 5, kNone},
};

/// What the operating system saves of registers.
uint64_t SavedState() {
  constexpr uint32_t kSaves = 1u << 27;
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kSaves) == 0) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

/// The registers of a matrix unit are the process's only if it asks for them, once, before its threads use them.
bool MayUseMatrixUnit() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// The CPU's own word for it, which programs that emulate one answer too.
std::vector<std::string> ReadFeatures() {
  std::vector<std::string> features;
  const uint64_t saved = SavedState();
  // Asked once a leaf, of which the table's rows stand together: in a virtual machine each answer takes 7 to 30 µs.
  const Feature* asked = nullptr;
  uint32_t answer[4] = {};
  for (const Feature& feature : kFeatures) {
    if (asked == nullptr || asked->leaf != feature.leaf || asked->subleaf != feature.subleaf) {
      asked = &feature;
      if (__get_cpuid_count(feature.leaf, feature.subleaf, &answer[0], &answer[1], &answer[2], &answer[3]) == 0)
        std::fill(std::begin(answer), std::end(answer), 0);
    }
    const bool is_there = (answer[static_cast<int>(feature.in)] >> feature.bit & 1) != 0;
    if (is_there && (saved & feature.state) == feature.state) features.emplace_back(feature.name);
  }
  const auto is_of_matrix_unit = [](const std::string& feature) { return feature.starts_with("amx-"); };
  if (std::any_of(features.begin(), features.end(), is_of_matrix_unit) && !MayUseMatrixUnit())
    std::erase_if(features, is_of_matrix_unit);
  std::sort(features.begin(), features.end());
  return features;
}
#endif

}  // namespace

const std::vector<std::string>& HostCpuFeatures() {
  static const auto* features = new std::vector<std::string>(ReadFeatures());
  return *features;
}

std::vector<std::string> MissingCpuFeatures(const std::vector<std::string>& required) {
  const std::vector<std::string>& host = HostCpuFeatures();
  std::vector<std::string> missing;
  for (const std::string& feature : required) {
    if (!std::binary_search(host.begin(), host.end(), feature)) missing.push_back(feature);
  }
  return missing;
}

}  // namespace deuteron::runtime
