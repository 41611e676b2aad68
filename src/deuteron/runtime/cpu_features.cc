#include "deuteron/runtime/cpu_features.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace deuteron::runtime {
namespace {

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
      {"asimd", "neon"},
      {"asimdhp", "fullfp16"},
      {"asimddp", "dotprod"},
  };
  const auto it = renamed.find(flag);
  return it == renamed.end() ? flag : it->second;
}

std::vector<std::string> ReadFeatures() {
  std::vector<std::string> features;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    // "flags" on x86, "Features" on ARM.
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0) continue;
    std::istringstream flags(line.substr(line.find(':') + 1));
    for (std::string flag; flags >> flag;) features.push_back(FeatureOfFlag(flag));
    break;
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

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
