#include "deuteron/runtime/cpu_features.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace deuteron::runtime {
namespace {

#if defined(__aarch64__)
/// The kernel's word for it, which programs that emulate a CPU answer too (/proc/cpuinfo may be that of their host).
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
/// The kernel's names that differ from LLVM's.
std::string FeatureOfFlag(const std::string& flag) {
  static const std::map<std::string, std::string> renamed = {
      {"sse4_1", "sse4.1"},
      {"sse4_2", "sse4.2"},
      {"pni", "sse3"},
      {"abm", "lzcnt"},
      {"pclmulqdq", "pclmul"},
      {"lahf_lm", "sahf"},
      {"bmi1", "bmi"},
      {"avx_vnni", "avxvnni"},
      {"avx_ifma", "avxifma"},
      {"avx512_vnni", "avx512vnni"},
      {"avx512_bf16", "avx512bf16"},
      {"avx512_fp16", "avx512fp16"},
      {"avx512_vbmi2", "avx512vbmi2"},
      {"avx512_bitalg", "avx512bitalg"},
      {"avx512_vpopcntdq", "avx512vpopcntdq"},
      {"avx512_vp2intersect", "avx512vp2intersect"},
      {"amx_tile", "amx-tile"},
      {"amx_int8", "amx-int8"},
      {"amx_bf16", "amx-bf16"},
      {"amx_fp16", "amx-fp16"},
      {"rdrand", "rdrnd"},
      {"sha_ni", "sha"},
      {"cx16", "cx16"},
      {"3dnowprefetch", "prfchw"},
      {"fxsr", "fxsr"},
      {"cx8", "cx8"},
  };
  const auto it = renamed.find(flag);
  return it == renamed.end() ? flag : it->second;
}

/// The registers of a matrix unit are the process's only if it asks for them, once, before its threads use them.
bool MayUseMatrixUnit() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::vector<std::string> ReadFeatures() {
  std::vector<std::string> features;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream flags(line.substr(line.find(':') + 1));
    for (std::string flag; flags >> flag;) features.push_back(FeatureOfFlag(flag));
    break;
  }
  const auto is_of_matrix_unit = [](const std::string& feature) { return feature.starts_with("amx-"); };
  if (std::any_of(features.begin(), features.end(), is_of_matrix_unit) && !MayUseMatrixUnit())
    std::erase_if(features, is_of_matrix_unit);
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
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
