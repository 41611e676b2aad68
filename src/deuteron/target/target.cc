#include "deuteron/target/target.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "deuteron/runtime/cpu_features.h"
#include "deuteron/support/error.h"

namespace deuteron {
namespace {

thread_local const Target* current_target = nullptr;

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "1024K" → bytes; `fallback` if it is not such a text.
int64_t ParseSize(const std::string& text, int64_t fallback) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value <= 0) return fallback;
  if (end != text.data() + text.size() && *end == 'K') value <<= 10;
  if (end != text.data() + text.size() && *end == 'M') value <<= 20;
  return value;
}

int64_t CacheBytes(int level, int64_t fallback) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    if (FirstLine(folder + "level") != std::to_string(level)) continue;
    if (FirstLine(folder + "type") == "Instruction") continue;
    return ParseSize(FirstLine(folder + "size"), fallback);
  }
  return fallback;
}

/// Affinity, limited by the quota of the control group.
int64_t UsableThreads() {
  cpu_set_t set;
  int64_t threads = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  std::istringstream quota(FirstLine("/sys/fs/cgroup/cpu.max"));
  double limit = 0;
  double period = 0;
  if (quota >> limit >> period && period > 0) {
    threads = std::min<int64_t>(threads, static_cast<int64_t>(std::ceil(limit / period)));
  }
  return std::max<int64_t>(threads, 1);
}

std::vector<std::string> HostFeatures() {
  // Only what changes the code that is generated here.
  static const char* const kUseful[] = {
      "sse3",     "ssse3",      "sse4.1",      "sse4.2",       "popcnt",          "avx",        "avx2",
      "fma",      "f16c",       "bmi",         "bmi2",         "lzcnt",           "movbe",      "avx512f",
      "avx512bw", "avx512cd",   "avx512dq",    "avx512vl",     "avx512vnni",      "avx512bf16", "avx512fp16",
      "avxvnni",  "avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq",
  };
  std::vector<std::string> features;
  for (const std::string& feature : runtime::HostCpuFeatures()) {
    if (std::find(std::begin(kUseful), std::end(kUseful), feature) != std::end(kUseful)) features.push_back(feature);
  }
  return features;
}

int64_t VectorBits(const Target& target) {
  if (target.HasFeature("avx512f") || target.cpu == "x86-64-v4" || target.cpu == "znver4" || target.cpu == "znver5" ||
      target.cpu == "skylake-avx512" || target.cpu == "icelake-server" || target.cpu == "sapphirerapids") {
    return 512;
  }
  if (target.HasFeature("avx") || target.cpu == "x86-64-v3" || target.cpu == "haswell" || target.cpu == "skylake" ||
      target.cpu.rfind("znver", 0) == 0) {
    return 256;
  }
  return 128;
}

int64_t ParseCount(std::string_view key, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) {
    DEUTERON_THROW(UsageError) << "target: " << key << " takes a positive number, got '" << text << "'";
  }
  return value;
}

void ApplyAttributes(std::string_view list, Target* target) {
  std::stringstream items{std::string(list)};
  for (std::string item; std::getline(items, item, ',');) {
    if (item.size() < 2 || (item[0] != '+' && item[0] != '-')) {
      DEUTERON_THROW(UsageError) << "target: -mattr takes +feature or -feature, got '" << item << "'";
    }
    const std::string name = item.substr(1);
    std::erase(target->features, name);
    if (item[0] == '+') target->features.push_back(name);
  }
  std::sort(target->features.begin(), target->features.end());
}

}  // namespace

bool Target::HasFeature(std::string_view feature) const {
  return std::binary_search(features.begin(), features.end(), feature,
                            [](const auto& a, const auto& b) { return std::string_view(a) < std::string_view(b); });
}

Target Target::Host() {
  static const Target host = [] {
    Target target;
    target.features = HostFeatures();
    target.vector_bits = VectorBits(target);
    target.l1_bytes = CacheBytes(1, target.l1_bytes);
    target.l2_bytes = CacheBytes(2, target.l2_bytes);
    target.threads = UsableThreads();
    return target;
  }();
  return host;
}

Target Target::Parse(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string word;
  if (!(words >> word) || (word != "native" && word != "llvm")) {
    DEUTERON_THROW(UsageError) << "target '" << text << "' is not known; say native or llvm -mcpu=NAME ...";
  }
  // Another CPU has nothing of this machine's, whatever the order of the options.
  Target target = text.find("-mcpu=") == std::string_view::npos || text.find("-mcpu=native") != std::string_view::npos
                      ? Host()
                      : Target();
  int64_t vector_bits = 0;
  while (words >> word) {
    const size_t equal = word.find('=');
    const std::string key = word.substr(0, equal);
    const std::string value = equal == std::string::npos ? "" : word.substr(equal + 1);
    if (key == "-mcpu") {
      target.cpu = value;
    } else if (key == "-mtriple") {
      target.triple = value;
    } else if (key == "-mattr") {
      ApplyAttributes(value, &target);
    } else if (key == "-vector-bits") {
      vector_bits = ParseCount(key, value);
    } else if (key == "-threads" || key == "-num-cores") {
      target.threads = ParseCount(key, value);
    } else {
      DEUTERON_THROW(UsageError) << "target: unknown option '" << word << "' in '" << text << "'";
    }
  }
  target.vector_bits = vector_bits != 0 ? vector_bits : VectorBits(target);
  return target;
}

std::string Target::ToString() const {
  const Target host = Host();
  if (*this == host) return "native";
  std::string text = "llvm";
  if (cpu != "native") text += " -mcpu=" + cpu;
  if (!triple.empty()) text += " -mtriple=" + triple;
  std::string attributes;
  const std::vector<std::string> base = cpu == "native" ? host.features : std::vector<std::string>();
  for (const std::string& feature : base) {
    if (!HasFeature(feature)) attributes += ",-" + feature;
  }
  for (const std::string& feature : features) {
    if (!std::binary_search(base.begin(), base.end(), feature)) attributes += ",+" + feature;
  }
  if (!attributes.empty()) text += " -mattr=" + attributes.substr(1);
  text += " -vector-bits=" + std::to_string(vector_bits);
  return text + " -threads=" + std::to_string(threads);
}

Target Target::Current() { return current_target != nullptr ? *current_target : Host(); }

TargetScope::TargetScope(Target target) : target_(std::move(target)), previous_(current_target) {
  current_target = &target_;
}
TargetScope::~TargetScope() { current_target = previous_; }

}  // namespace deuteron
