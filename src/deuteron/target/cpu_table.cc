/// \file
/// Figures of caches and of arithmetic are those of the makers' optimisation manuals; bytes a second are what copies
/// reach on machines of the kind, servers with all cores of a socket at most.
#include "deuteron/target/cpu_table.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "deuteron/support/error.h"

namespace deuteron {
namespace {

struct CpuEntry {
  std::string_view name;
  Architecture architecture;
  /// Another entry, above, of which it has the features too; empty: none.
  std::string_view extends;
  /// Besides, separated by spaces.
  std::string_view features;
  /// Bits of the vectors whose multiply-adds start in a cycle.
  int64_t multiply_bits;
  double ghz;
  /// In KiB, with ways, that of instructions without; the second level with the cores that share one, of the third what
  /// falls to a core.
  int64_t l1_kib, l1_ways;
  int64_t code_kib;
  int64_t l2_kib, l2_ways, l2_cores;
  int64_t l3_kib, l3_ways;
  /// Of a cycle, from the second and the third level.
  double l2_load, l3_load;
  double core_gbps, memory_gbps;
};

constexpr Architecture kX86 = Architecture::kX86;
constexpr Architecture kArm = Architecture::kArm;
constexpr std::string_view kAvx512 = "avx512bw avx512cd avx512dq avx512f avx512vl";
constexpr std::string_view kIceLake = "avx512bitalg avx512vbmi avx512vbmi2 avx512vnni avx512vpopcntdq";
constexpr std::string_view kSapphireRapids = "amx-bf16 amx-int8 amx-tile avx512bf16 avx512fp16 avxvnni";

constexpr CpuEntry kCpus[] = {
    // x86: levels of the architecture, which stand for many CPUs, then CPUs.
    {"x86-64", kX86, "", "", 128, 2.7, 32, 8, 32, 512, 8, 1, 1024, 16, 16, 8, 10, 40},
    {"x86-64-v2", kX86, "x86-64", "popcnt sse3 sse4.1 sse4.2 ssse3", 128, 2.7, 32, 8, 32, 512, 8, 1, 1024, 16, 16, 8,
     10, 40},
    {"x86-64-v3", kX86, "x86-64-v2", "avx avx2 bmi bmi2 f16c fma lzcnt movbe", 512, 2.7, 32, 8, 32, 512, 8, 1, 2048, 16,
     32, 8, 13.5, 40},
    {"x86-64-v4", kX86, "x86-64-v3", kAvx512, 1024, 2.7, 32, 8, 32, 1024, 16, 1, 1408, 11, 32, 8, 13.5, 150},
    {"haswell", kX86, "x86-64-v3", "", 512, 2.7, 32, 8, 32, 256, 8, 1, 2048, 16, 32, 8, 12, 30},
    {"broadwell", kX86, "x86-64-v3", "", 512, 2.7, 32, 8, 32, 256, 8, 1, 2048, 16, 32, 8, 12, 30},
    {"skylake", kX86, "x86-64-v3", "", 512, 3.2, 32, 8, 32, 256, 4, 1, 2048, 16, 32, 8, 13.5, 35},
    {"alderlake", kX86, "x86-64-v3", "avxvnni", 512, 3.5, 48, 12, 32, 1280, 10, 1, 3072, 12, 32, 10, 25, 60},
    {"skylake-avx512", kX86, "x86-64-v4", "", 1024, 2.5, 32, 8, 32, 1024, 16, 1, 1408, 11, 32, 8, 12, 100},
    {"cascadelake", kX86, "x86-64-v4", "avx512vnni", 1024, 2.5, 32, 8, 32, 1024, 16, 1, 1408, 11, 32, 8, 12, 100},
    {"cooperlake", kX86, "cascadelake", "avx512bf16", 1024, 2.5, 32, 8, 32, 1024, 16, 1, 1408, 11, 32, 8, 12, 100},
    {"icelake-server", kX86, "x86-64-v4", kIceLake, 1024, 2.6, 48, 12, 32, 1280, 20, 1, 1536, 12, 32, 8, 12, 150},
    {"sapphirerapids", kX86, "icelake-server", kSapphireRapids, 1024, 2.7, 48, 12, 32, 2048, 16, 1, 1920, 15, 32, 8,
     13.5, 250},
    {"emeraldrapids", kX86, "sapphirerapids", "", 1024, 2.7, 48, 12, 32, 2048, 16, 1, 5120, 20, 32, 8, 13.5, 280},
    {"graniterapids", kX86, "sapphirerapids", "amx-fp16", 1024, 2.7, 48, 12, 64, 2048, 16, 1, 4096, 16, 32, 8, 13.5,
     500},
    {"znver2", kX86, "x86-64-v3", "", 512, 2.8, 32, 8, 32, 512, 8, 1, 4096, 16, 32, 16, 15, 150},
    {"znver3", kX86, "x86-64-v3", "", 512, 3.0, 32, 8, 32, 512, 8, 1, 4096, 16, 32, 16, 20, 150},
    {"znver4", kX86, "icelake-server", "avx512bf16", 512, 3.2, 32, 8, 32, 1024, 8, 1, 4096, 16, 32, 16, 25, 350},
    {"znver5", kX86, "znver4", "avxvnni", 1024, 3.4, 48, 12, 32, 1024, 16, 1, 4096, 16, 64, 16, 30, 450},
    // ARM
    {"generic", kArm, "", "neon", 128, 1.5, 32, 4, 32, 512, 8, 1, 0, 16, 16, 8, 5, 15},
    {"cortex-a53", kArm, "generic", "", 64, 1.2, 32, 4, 32, 512, 16, 4, 0, 16, 8, 4, 2, 3},
    {"cortex-a72", kArm, "generic", "", 128, 1.5, 32, 2, 48, 1024, 16, 4, 0, 16, 16, 8, 3, 4},
    {"cortex-a76", kArm, "generic", "dotprod fullfp16", 256, 2.4, 64, 4, 64, 512, 8, 1, 512, 16, 32, 16, 8, 15},
    {"neoverse-n1", kArm, "generic", "dotprod fullfp16", 256, 2.6, 64, 4, 64, 1024, 8, 1, 512, 16, 32, 16, 15, 150},
    {"neoverse-v1", kArm, "neoverse-n1", "bf16 i8mm", 512, 2.6, 64, 4, 64, 1024, 8, 1, 512, 16, 32, 16, 20, 250},
    {"neoverse-n2", kArm, "neoverse-n1", "bf16 i8mm", 256, 2.8, 64, 4, 64, 1024, 8, 1, 512, 16, 32, 16, 18, 250},
    {"neoverse-v2", kArm, "neoverse-n1", "bf16 i8mm", 512, 2.8, 64, 4, 64, 2048, 8, 1, 512, 16, 32, 16, 25, 400},
    {"apple-m1", kArm, "generic", "dotprod fullfp16", 512, 3.0, 128, 8, 192, 12288, 12, 4, 2048, 16, 32, 16, 30, 60},
};

constexpr std::string_view kX86Features[] = {
    "amx-bf16",   "amx-fp16",        "amx-int8", "amx-tile", "avx",        "avx2",       "avx512bf16",  "avx512bitalg",
    "avx512bw",   "avx512cd",        "avx512dq", "avx512f",  "avx512fp16", "avx512vbmi", "avx512vbmi2", "avx512vl",
    "avx512vnni", "avx512vpopcntdq", "avxvnni",  "bmi",      "bmi2",       "f16c",       "fma",         "lzcnt",
    "movbe",      "popcnt",          "sse3",     "sse4.1",   "sse4.2",     "ssse3"};
// No CPU of the table says that it has SVE: vectors here are of 128 bits, and code with SVE's would not run on others.
constexpr std::string_view kArmFeatures[] = {"bf16", "dotprod", "fullfp16", "i8mm", "neon", "sve", "sve2"};

const CpuEntry& Find(std::string_view name, Architecture architecture) {
  for (const CpuEntry& entry : kCpus) {
    if (entry.architecture == architecture && entry.name == name) return entry;
  }
  std::string known;
  for (const std::string_view cpu : CpusOf(architecture)) known += (known.empty() ? "" : ", ") + std::string(cpu);
  DEUTERON_THROW(UsageError) << "target: -mcpu takes native or one of " << known << "; got '" << name << "'";
}

bool Has(const std::vector<std::string>& features, std::string_view feature) {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

/// In operations of float32 at the same time.
Arithmetic ArithmeticOf(double f32, const std::vector<std::string>& features) {
  Arithmetic ops{.f64 = f32 / 2, .f32 = f32, .f16 = f32, .bf16 = f32, .i8 = f32};
  if (Has(features, "avx512fp16") || Has(features, "fullfp16")) ops.f16 = 2 * f32;
  if (Has(features, "avx512bf16")) ops.bf16 = 2 * f32;
  if (Has(features, "avx512vnni") || Has(features, "avxvnni") || Has(features, "dotprod")) ops.i8 = 4 * f32;
  // Products of 2×4 by 4×2 (bytes: 2×8 by 8×2) in a vector of 128 bits.
  if (Has(features, "bf16")) ops.bf16 = 4 * f32;
  if (Has(features, "i8mm")) ops.i8 = 8 * f32;
  // Products of 16×32 by 32×16 (bytes: 16×64 by 64×16) in 16 cycles.
  if (Has(features, "amx-bf16")) ops.bf16 = 1024;
  if (Has(features, "amx-fp16")) ops.f16 = 1024;
  if (Has(features, "amx-int8")) ops.i8 = 2048;
  return ops;
}

}  // namespace

Architecture ArchitectureOf(std::string_view triple) {
  if (triple.empty()) {
#if defined(__aarch64__)
    return Architecture::kArm;
#else
    return Architecture::kX86;
#endif
  }
  const bool is_linux = triple.find("linux") != std::string_view::npos;  // artefacts are its shared objects
  if (is_linux && triple.starts_with("x86_64-")) return Architecture::kX86;
  if (is_linux && triple.starts_with("aarch64-")) return Architecture::kArm;
  DEUTERON_THROW(UsageError) << "target: -mtriple takes x86_64-linux-gnu or aarch64-linux-gnu, got '" << triple << "'";
}

std::string_view PlainestCpu(Architecture architecture) {
  return architecture == Architecture::kX86 ? "x86-64" : "generic";
}

std::string_view NameOf(Architecture architecture) { return architecture == Architecture::kX86 ? "x86-64" : "aarch64"; }

bool IsCpuOf(std::string_view cpu, Architecture architecture) {
  return std::any_of(std::begin(kCpus), std::end(kCpus),
                     [&](const CpuEntry& entry) { return entry.architecture == architecture && entry.name == cpu; });
}

std::vector<std::string_view> CpusOf(Architecture architecture) {
  std::vector<std::string_view> names;
  for (const CpuEntry& entry : kCpus) {
    if (entry.architecture == architecture) names.push_back(entry.name);
  }
  return names;
}

std::span<const std::string_view> KnownFeatures(Architecture architecture) {
  if (architecture == Architecture::kX86) return kX86Features;
  return kArmFeatures;
}

std::vector<std::string> FeaturesOfCpu(std::string_view cpu, Architecture architecture) {
  std::vector<std::string> features;
  for (std::string_view name = cpu; !name.empty();) {
    const CpuEntry& entry = Find(name, architecture);
    std::istringstream own{std::string(entry.features)};
    features.insert(features.end(), std::istream_iterator<std::string>(own), {});
    name = entry.extends;
  }
  std::sort(features.begin(), features.end());
  return features;
}

int64_t VectorBitsOf(const std::vector<std::string>& features, Architecture architecture) {
  if (architecture == Architecture::kArm) return 128;
  return Has(features, "avx512f") ? 512 : Has(features, "avx") ? 256 : 128;
}

Machine MachineOfCpu(std::string_view cpu, const std::vector<std::string>& features, Architecture architecture,
                     int64_t vector_bits, int64_t threads) {
  const CpuEntry& entry = Find(cpu, architecture);
  constexpr int64_t kKib = 1024;
  Machine machine;
  machine.vector_bits = vector_bits;
  machine.vector_registers = architecture == Architecture::kArm || Has(features, "avx512f") ? 32 : 16;
  machine.vector_pipes = std::clamp<int64_t>(entry.multiply_bits / vector_bits, 1, architecture == kArm ? 4 : 2);
  machine.ghz = entry.ghz;
  machine.ops = ArithmeticOf(static_cast<double>(2 * machine.vector_pipes * machine.Lanes(32)), features);
  machine.l1 = {entry.l1_kib * kKib, entry.l1_ways, 1,
                static_cast<double>(machine.load_pipes * machine.vector_bits) / 8};
  machine.code_bytes = entry.code_kib * kKib;
  machine.l2 = {entry.l2_kib * kKib, entry.l2_ways, entry.l2_cores, entry.l2_load};
  machine.l3 = {entry.l3_kib * kKib, entry.l3_ways, 1, entry.l3_load};
  machine.core_gbps = entry.core_gbps;
  machine.memory_gbps = entry.memory_gbps;
  machine.threads = threads;
  machine.cores = threads;
  return machine;
}

}  // namespace deuteron
