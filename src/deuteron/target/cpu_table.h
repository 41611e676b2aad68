/// \file
/// What is known of CPUs without asking one: their features and figures, by the names that LLVM gives them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/target/machine.h"

namespace deuteron {

enum class Architecture : uint8_t { kX86, kArm };

/// That of a target triple; of this program if it is empty. A UsageError for others than x86-64 and AArch64.
Architecture ArchitectureOf(std::string_view triple);
/// That of which every CPU of an architecture has the features.
std::string_view PlainestCpu(Architecture architecture);

/// The CPUs of the table, the levels of the architecture first.
std::vector<std::string_view> CpusOf(Architecture architecture);

/// "x86-64", "aarch64".
std::string_view NameOf(Architecture architecture);
/// Whether the table has a CPU of that name for that architecture.
bool IsCpuOf(std::string_view cpu, Architecture architecture);

/// The features that change the code generated here, or how fast it is; sorted.
std::span<const std::string_view> KnownFeatures(Architecture architecture);

/// A UsageError that lists the CPUs if the table has none of that name for that architecture.
std::vector<std::string> FeaturesOfCpu(std::string_view cpu, Architecture architecture);

/// The widest vectors of a CPU with these features (sorted).
int64_t VectorBitsOf(const std::vector<std::string>& features, Architecture architecture);

/// The model of a CPU of the table with these features, vectors and threads (each on a core of its own).
Machine MachineOfCpu(std::string_view cpu, const std::vector<std::string>& features, Architecture architecture,
                     int64_t vector_bits, int64_t threads);

}  // namespace deuteron
