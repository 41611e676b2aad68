#include "deuteron/target/host.h"

#include <sched.h>
#include <unistd.h>
#if !defined(__aarch64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "deuteron/runtime/cpu_features.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/environment.h"
#include "deuteron/target/cpu_table.h"
#include "deuteron/target/machine_options.h"

namespace deuteron {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "48K" → bytes; 0 if there is no such file.
int64_t ReadSize(const std::string& path) {
  const std::string text = FirstLine(path);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value <= 0) return 0;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  return unit == "K" ? value << 10 : unit == "M" ? value << 20 : value;
}

/// How many CPUs "0-3,8" names.
int64_t CountCpus(const std::string& path) {
  std::stringstream ranges{FirstLine(path)};
  int64_t count = 0;
  for (std::string range; std::getline(ranges, range, ',');) {
    int64_t first = 0;
    int64_t last = 0;
    char dash = 0;
    std::istringstream words(range);
    if (!(words >> first)) continue;
    count += words >> dash >> last ? last - first + 1 : 1;
  }
  return std::max<int64_t>(count, 1);
}

/// The first CPU that this process may run on.
int FirstCpu() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) return cpu;
  }
  return 0;
}

bool Contains(const std::vector<std::string>& features, std::string_view feature) {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::vector<std::string> FindFeatures() {
  std::vector<std::string> features;
  for (const std::string_view feature : KnownFeatures(ArchitectureOf(""))) {
    if (Contains(runtime::HostCpuFeatures(), feature)) features.emplace_back(feature);
  }
  return features;
}

#if defined(__aarch64__)
/// "0xd0c" of the first CPU.
std::string PartNumber() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const size_t colon = line.find(": ");
    if (line.starts_with("CPU part") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}
#else
/// Whether AMD made it, and its family; as runtime::HostCpuFeatures, not what /proc/cpuinfo says of another CPU.
bool IsAmd(uint32_t* family) {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return false;
  const bool is_amd = ebx == signature_AMD_ebx && ecx == signature_AMD_ecx && edx == signature_AMD_edx;
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  *family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff);
  return is_amd;
}
#endif

std::string FindCpu() {
  const std::vector<std::string>& features = HostFeatures();
#if defined(__aarch64__)
  const std::string part = PartNumber();
  if (part == "0xd03") return "cortex-a53";
  if (part == "0xd08") return "cortex-a72";
  if (part == "0xd0b") return "cortex-a76";
  if (part == "0xd40") return "neoverse-v1";
  if (part == "0xd49") return "neoverse-n2";
  if (part == "0xd4f") return "neoverse-v2";
  return Contains(features, "dotprod") ? "neoverse-n1" : "generic";
#else
  constexpr uint32_t kZen2 = 0x17;
  uint32_t family = 0;
  if (IsAmd(&family) && Contains(features, "avx2")) {
    if (Contains(features, "avx512f")) return Contains(features, "avxvnni") ? "znver5" : "znver4";
    return family == kZen2 ? "znver2" : "znver3";
  }
  if (Contains(features, "amx-fp16")) return "graniterapids";
  if (Contains(features, "avx512fp16")) return "sapphirerapids";
  if (Contains(features, "avx512vbmi2")) return "icelake-server";
  if (Contains(features, "avx512f")) return "x86-64-v4";
  if (Contains(features, "avxvnni")) return "alderlake";
  return Contains(features, "avx2") ? "x86-64-v3" : "x86-64-v2";
#endif
}

/// A machine that this one stands in for.
struct Simulation {
  std::string cpu;
  std::vector<std::pair<std::string, std::string>> figures;
};

Simulation FindSimulation() {
  Simulation simulation;
  std::istringstream words(EnvironmentVariable("DEUTERON_HOST"));
  words >> simulation.cpu;
  for (std::string word; words >> word;) {
    const size_t equal = word.find('=');
    simulation.figures.emplace_back(word.substr(0, equal), equal == std::string::npos ? "" : word.substr(equal + 1));
  }
  return simulation;
}

const Simulation& Simulated() {
  static const auto* simulation = new Simulation(FindSimulation());
  return *simulation;
}

bool IsSimulated() { return !Simulated().cpu.empty(); }

/// What the operating system tells; 0 where it does not.
struct SystemReport {
  Cache l1{.ways = 0}, l2{.ways = 0}, l3{.ways = 0};
  int64_t code_bytes = 0;
  int64_t line_bytes = 0;
  int64_t page_bytes = 4096;
  int64_t threads_a_core = 1;
  bool is_virtual = false;
};

SystemReport Ask() {
  SystemReport report;
  const std::string cpu = "/sys/devices/system/cpu/cpu" + std::to_string(FirstCpu()) + "/";
  for (int index = 0; index < 8; ++index) {
    const std::string folder = cpu + "cache/index" + std::to_string(index) + "/";
    const std::string level = FirstLine(folder + "level");
    if (level.empty()) break;
    if (FirstLine(folder + "type") == "Instruction") {
      if (level == "1") report.code_bytes = ReadSize(folder + "size");
      continue;
    }
    if (level > "3") continue;
    Cache& cache = level == "1" ? report.l1 : level == "2" ? report.l2 : report.l3;
    cache.bytes = ReadSize(folder + "size");
    cache.ways = ReadSize(folder + "ways_of_associativity");
    cache.sharers = CountCpus(folder + "shared_cpu_list");
    report.line_bytes = ReadSize(folder + "coherency_line_size");
  }
  report.page_bytes = std::max<int64_t>(sysconf(_SC_PAGESIZE), 1);
  report.threads_a_core = CountCpus(cpu + "topology/thread_siblings_list");
  report.is_virtual = Contains(runtime::HostCpuFeatures(), "hypervisor");
  return report;
}

}  // namespace

const std::vector<std::string>& HostFeatures() {
  static const auto* features =
      new std::vector<std::string>(IsSimulated() ? FeaturesOfCpu(Simulated().cpu, ArchitectureOf("")) : FindFeatures());
  return *features;
}

const std::string& HostCpu() {
  static const auto* cpu = new std::string(IsSimulated() ? Simulated().cpu : FindCpu());
  return *cpu;
}

int64_t HostThreads() {
  Machine machine;
  machine.threads = runtime::UsableThreads();
  for (const auto& [key, value] : Simulated().figures) SetFigure(key, value, &machine);
  return machine.threads;
}

void DescribeHost(Machine* machine) {
  if (IsSimulated()) {
    const int64_t threads = machine->threads;
    for (const auto& [key, value] : Simulated().figures) SetFigure(key, value, machine);
    machine->threads = threads;
    return;
  }
  static const auto* system = new SystemReport(Ask());
  for (const auto& [cache, report] : {std::pair(&machine->l1, &system->l1), std::pair(&machine->l2, &system->l2),
                                      std::pair(&machine->l3, &system->l3)}) {
    if (report->bytes == 0) continue;
    const int64_t share = cache->Share();
    cache->bytes = report->bytes;
    if (report->ways > 0) cache->ways = report->ways;
    cache->sharers = report->sharers;
    const bool is_last = cache == &machine->l3;
    if (is_last && system->is_virtual && share > 0) cache->sharers = std::max(cache->sharers, cache->bytes / share);
  }
  if (system->code_bytes > 0) machine->code_bytes = system->code_bytes;
  if (system->line_bytes > 0) machine->line_bytes = system->line_bytes;
  machine->page_bytes = system->page_bytes;
  machine->cores = std::max<int64_t>(machine->threads / system->threads_a_core, 1);
}

}  // namespace deuteron
