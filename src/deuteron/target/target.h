/// \file
/// What is compiled for: a CPU, its features, and a model of the machine around it.
///
/// As text:
///
///     native [OPTION...]     this machine
///     llvm [OPTION...]       the plainest CPU of the architecture, or that of -mcpu; nothing of this machine's
///
///     CPU [OPTION...]        the same as llvm -mcpu=CPU: x86-64-v3, cortex-a72; of another architecture with its
///     triple TRIPLE [OPTION...]     the same as llvm -mtriple=TRIPLE: aarch64-linux-gnu, or aarch64 alone
///
///     -mcpu=NAME             native, or a CPU of the table (cpu_table.h)
///     -mattr=+a,-b           features that it has besides, or lacks
///     -mtriple=TRIPLE        the architecture and system, this program's if not given
///     -threads=N             of parallel loops (-num-cores=N is the same); 4 if not given, but for `native`
///     -l2-bytes=2M ...       any figure of the model (machine.h): MachineOptions() lists them
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/target/machine.h"

namespace deuteron {

/// A value: copied freely, compared by field.
struct Target {
  /// "native" or a CPU of the table, by the name that LLVM gives it: "znver4", "x86-64-v3".
  std::string cpu;
  /// LLVM target triple; empty = this program's.
  std::string triple;
  /// Of the known features (cpu_table.h) those that it has, as LLVM names them ("avx512f", "fma"); and others that
  /// were asked for. Sorted.
  std::vector<std::string> features;
  Machine machine;

  /// That of "llvm".
  Target();

  /// `cpu`, or that of the table which "native" is most like.
  const std::string& CpuOfTable() const;
  bool HasFeature(std::string_view feature) const;
  /// The known features that it lacks.
  std::vector<std::string> AbsentFeatures() const;
  /// Those that the code generated for it may use: a machine without one of them cannot run that. Those of the matrix
  /// unit are only for code that `uses_matrix_unit`; libraries ask the CPU themselves.
  std::vector<std::string> RequiredFeatures(bool uses_matrix_unit) const;

  /// This machine.
  static Target Host();
  /// `threads`, if not 0, are those of parallel loops, whatever the text says. A UsageError names the option that is
  /// wrong and says what it takes.
  static Target Parse(std::string_view text, int64_t threads = 0);
  /// Whether code for it runs in this process. If not, why: "of aarch64, and this machine is x86-64", "with avx512f, …,
  /// which this one lacks"; empty if it does.
  std::string WhyNotHere() const;
  /// Parses back to an equal target on the same machine; says what differs from the CPU's own figures.
  std::string ToString() const;

  /// The innermost scoped target of this thread, or that of "llvm": never the machine, unless it was asked for.
  static Target Current();

  bool operator==(const Target&) const = default;
};

/// The targets of a list, "x86-64-v3,x86-64-v4": the texts between its commas, which those of -mattr are not.
std::vector<std::string> SplitTargets(std::string_view list);

/// The options that set a figure of the model: names and what each takes, a line each.
std::string MachineOptions();

/// Makes `target` current in this thread while it lives.
class TargetScope {
 public:
  explicit TargetScope(Target target);
  ~TargetScope();
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;

 private:
  Target target_;
  const Target* previous_;
};

}  // namespace deuteron
