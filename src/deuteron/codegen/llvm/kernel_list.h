/// \file
/// What there is to compile of a lowered module, how long that may take, and together with what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deuteron/codegen/machine_code.h"
#include "deuteron/tir/function.h"

namespace deuteron::codegen {

/// How long LLVM may take for a kernel.
enum class Effort {
  /// As long as its code gets faster: no end of calls is expected.
  kFull,
  /// Its loops are optimised, but instructions selected in the quick way where there is one: a few calls are expected
  /// (measured: a tenth less for networks of int8, whose kernels take some hundredths longer).
  kQuick,
  /// It executes so little, in all calls that are expected, that to optimise it would take longer: light.
  kLeast,
};

/// Of code that kernels share, one of these.
struct KernelEntry {
  /// What it is called.
  std::vector<std::string> names;
  /// What it passes to the code.
  std::vector<uint64_t> scalars;
};

/// Code to make, for one kernel or for several.
struct Kernel {
  tir::PrimFunc func;
  std::vector<KernelEntry> entries;
  int64_t size = 0;
  Effort effort = Effort::kFull;
};

/// The kernels of a module, equal ones as one, largest first, with as many copies of what loops do as their effort
/// allows; light ones that differ in numbers alone share their code (tir/transform/kernel_numbers.h). Without threads
/// no effort is spared.
std::vector<Kernel> KernelsToCompile(const IRModule& module, const CodegenOptions& options, size_t threads);

/// Deals the kernels of that effort out to groups, of which threads take one after the other. The last ones are the
/// smallest: threads end at about the same time, however long LLVM takes for a node.
std::vector<std::vector<const Kernel*>> Partition(const std::vector<Kernel>& kernels, Effort effort, size_t groups,
                                                  size_t threads);

}  // namespace deuteron::codegen
