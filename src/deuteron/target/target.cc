#include "deuteron/target/target.h"

#include <algorithm>
#include <sstream>

#include "deuteron/runtime/cpu_features.h"
#include "deuteron/support/error.h"
#include "deuteron/target/cpu_table.h"
#include "deuteron/target/host.h"
#include "deuteron/target/machine_options.h"

namespace deuteron {
namespace {

thread_local const Target* current_target = nullptr;

/// Threads of a machine of which nothing is said.
constexpr int64_t kAssumedThreads = 4;

int64_t ThreadsOf(std::string_view cpu) { return cpu == "native" ? HostThreads() : kAssumedThreads; }

std::vector<std::string> FeaturesOf(std::string_view cpu, Architecture architecture) {
  return cpu == "native" ? HostFeatures() : FeaturesOfCpu(cpu, architecture);
}

/// The model of a target of which no figures are given but these.
Machine ModelOf(const Target& target, int64_t vector_bits, int64_t threads) {
  const Architecture architecture = ArchitectureOf(target.triple);
  const bool native = target.cpu == "native";
  Machine machine = MachineOfCpu(target.CpuOfTable(), target.features, architecture, vector_bits, threads);
  if (native) DescribeHost(&machine);
  return machine;
}

void ApplyAttributes(std::string_view list, std::vector<std::string>* features) {
  std::stringstream items{std::string(list)};
  for (std::string item; std::getline(items, item, ',');) {
    if (item.size() < 2 || (item[0] != '+' && item[0] != '-')) {
      DEUTERON_THROW(UsageError) << "target: -mattr takes +feature or -feature, separated by commas; got '" << item
                                 << "'";
    }
    const std::string name = item.substr(1);
    std::erase(*features, name);
    if (item[0] == '+') features->push_back(name);
  }
  std::sort(features->begin(), features->end());
}

/// The triple of Linux on an architecture; empty if it is this program's.
std::string TripleOf(Architecture architecture) {
  if (architecture == ArchitectureOf("")) return "";
  return architecture == Architecture::kX86 ? "x86_64-linux-gnu" : "aarch64-linux-gnu";
}

/// What a target's first word says, which may be a CPU or a triple.
void ParseFirstWord(std::string_view word, std::string_view text, std::string* cpu, std::string* triple) {
  if (word == "llvm") return;
  for (const std::string_view architecture : {"x86_64", "aarch64"}) {
    if (word == architecture) *triple = std::string(word) + "-linux-gnu";
    if (word.starts_with(std::string(architecture) + "-")) *triple = word;
  }
  if (!triple->empty()) return;
  *cpu = word;
  if (word == "native" || IsCpuOf(word, ArchitectureOf(""))) return;
  for (const Architecture architecture : {Architecture::kX86, Architecture::kArm}) {
    // What an architecture calls plain says nothing without the architecture.
    if (IsCpuOf(word, architecture) && word != PlainestCpu(architecture)) {
      *triple = TripleOf(architecture);
      return;
    }
  }
  DEUTERON_THROW(UsageError) << "target '" << text << "' is not known; say native, a CPU (x86-64-v3, cortex-a72), a "
                             << "triple (aarch64-linux-gnu), or llvm -mcpu=NAME ...";
}

}  // namespace

Target::Target() : cpu(PlainestCpu(ArchitectureOf(""))), features(FeaturesOfCpu(cpu, ArchitectureOf(""))) {
  machine = ModelOf(*this, VectorBitsOf(features, ArchitectureOf("")), kAssumedThreads);
}

const std::string& Target::CpuOfTable() const { return cpu == "native" ? HostCpu() : cpu; }

bool Target::HasFeature(std::string_view feature) const {
  return std::binary_search(features.begin(), features.end(), feature,
                            [](const auto& a, const auto& b) { return std::string_view(a) < std::string_view(b); });
}

std::vector<std::string> Target::AbsentFeatures() const {
  std::vector<std::string> absent;
  for (const std::string_view feature : KnownFeatures(ArchitectureOf(triple))) {
    if (!HasFeature(feature)) absent.emplace_back(feature);
  }
  return absent;
}

std::vector<std::string> Target::RequiredFeatures(bool uses_matrix_unit) const {
  std::vector<std::string> required = features;
  if (uses_matrix_unit) return required;
  std::erase_if(required, [](const std::string& feature) { return feature.starts_with("amx-"); });
  return required;
}

Target Target::Host() {
  static const Target host = [] {
    Target target;
    target.cpu = "native";
    target.features = HostFeatures();
    target.machine = ModelOf(target, VectorBitsOf(target.features, ArchitectureOf("")), HostThreads());
    return target;
  }();
  return host;
}

Target Target::Parse(std::string_view text, int64_t threads) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  Target target;
  std::string cpu;
  ParseFirstWord(word, text, &cpu, &target.triple);
  std::string attributes;
  std::vector<std::pair<std::string, std::string>> figures;
  while (words >> word) {
    const size_t equal = word.find('=');
    const std::string key = word.substr(0, equal);
    const std::string value = equal == std::string::npos ? "" : word.substr(equal + 1);
    if (key == "-mcpu") {
      cpu = value;
    } else if (key == "-mtriple") {
      target.triple = value;
    } else if (key == "-mattr") {
      attributes += (attributes.empty() ? "" : ",") + value;
    } else {
      figures.emplace_back(key == "-num-cores" ? "-threads" : key, value);
    }
  }
  if (threads > 0) figures.emplace_back("-threads", std::to_string(threads));
  const Architecture architecture = ArchitectureOf(target.triple);
  if (cpu == "native" && architecture != ArchitectureOf("")) {
    DEUTERON_THROW(UsageError) << "target: this machine's CPU is none of -mtriple=" << target.triple;
  }
  target.cpu = cpu.empty() ? PlainestCpu(architecture) : cpu;
  target.features = FeaturesOf(target.cpu, architecture);
  ApplyAttributes(attributes, &target.features);
  // Others are derived from these two.
  Machine given;
  given.vector_bits = VectorBitsOf(target.features, architecture);
  given.threads = ThreadsOf(target.cpu);
  for (const auto& [key, value] : figures) SetFigure(key, value, &given);
  target.machine = ModelOf(target, given.vector_bits, given.threads);
  for (const auto& [key, value] : figures) SetFigure(key, value, &target.machine);
  return target;
}

std::string Target::ToString() const {
  const Architecture architecture = ArchitectureOf(triple);
  std::string text = cpu == "native" ? cpu : "llvm";
  if (cpu != "native" && cpu != PlainestCpu(architecture)) text += " -mcpu=" + cpu;
  if (!triple.empty()) text += " -mtriple=" + triple;
  std::string attributes;
  const std::vector<std::string> base = FeaturesOf(cpu, architecture);
  for (const std::string& feature : base) {
    if (!HasFeature(feature)) attributes += ",-" + feature;
  }
  for (const std::string& feature : features) {
    if (!std::binary_search(base.begin(), base.end(), feature)) attributes += ",+" + feature;
  }
  if (!attributes.empty()) text += " -mattr=" + attributes.substr(1);
  Machine given;
  given.vector_bits = VectorBitsOf(features, architecture);
  given.threads = ThreadsOf(cpu);
  Machine model = ModelOf(*this, machine.vector_bits, machine.threads);
  model.vector_bits = given.vector_bits;
  model.threads = given.threads;
  return text + FiguresThatDiffer(machine, model);
}

std::string Target::WhyNotHere() const {
  const Architecture architecture = ArchitectureOf(triple);
  if (architecture != ArchitectureOf("")) {
    return "of " + std::string(NameOf(architecture)) + ", and this one is of " +
           std::string(NameOf(ArchitectureOf("")));
  }
  const std::vector<std::string> missing = runtime::MissingCpuFeatures(RequiredFeatures(/*uses_matrix_unit=*/true));
  std::string list;
  for (const std::string& feature : missing) list += (list.empty() ? "" : ", ") + feature;
  return list.empty() ? "" : "with " + list + ", which this one lacks";
}

std::vector<std::string> SplitTargets(std::string_view list) {
  std::vector<std::string> targets(1);
  for (size_t i = 0; i < list.size(); ++i) {
    const char next = i + 1 < list.size() ? list[i + 1] : ' ';
    if (list[i] == ',' && next != '+' && next != '-') {
      targets.emplace_back();
    } else {
      targets.back() += list[i];
    }
  }
  return targets;
}

Target Target::Current() { return current_target != nullptr ? *current_target : Target(); }

TargetScope::TargetScope(Target target) : target_(std::move(target)), previous_(current_target) {
  current_target = &target_;
}
TargetScope::~TargetScope() { current_target = previous_; }

}  // namespace deuteron
