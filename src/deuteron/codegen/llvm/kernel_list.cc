#include "deuteron/codegen/llvm/kernel_list.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deuteron/support/parallel.h"
#include "deuteron/tir/analysis/kernel_signature.h"
#include "deuteron/tir/analysis/node_count.h"
#include "deuteron/tir/structure_hash.h"
#include "deuteron/tir/transform/kernel_numbers.h"
#include "deuteron/tir/transform/limit_unrolling.h"

namespace deuteron::codegen {
namespace {

/// How many copies unrolled loops make in kernels of few calls (measured: networks of int8, whose light kernels compile
/// in 0.4 of the time with all copies, and run as long; more copies of sums, 0.9 of the time at most).
constexpr tir::UnrollingLimits kQuickLimits{.of_sums = 64, .of_others = 8, .keeps_registers = true};
constexpr tir::UnrollingLimits kLightLimits{.of_sums = 16, .of_others = 4, .keeps_registers = false};

/// Seconds of a core that LLVM takes longer to compile a kernel that it optimises, and for each node of it (measured:
/// kernels of int8 networks 11 to 23 µs a node); and what a node of a light one takes longer each time that it is
/// executed (measured: kernels of networks 0.01 to 0.03 ns, since what a loop does not change is computed before it),
/// in a few starts: later ones have the same code from the cache.
constexpr double kSecondsToOptimize = 1e-3, kSecondsToOptimizeNode = 20e-6, kSecondsOfNode = 0.05e-9;

/// The kernel with as many copies of what loops do as an effort allows that is not full.
tir::PrimFunc Limited(tir::PrimFunc func, Effort effort) {
  const tir::UnrollingLimits& limits = effort == Effort::kQuick ? kQuickLimits : kLightLimits;
  auto* node = CopyOnWrite(&func);
  node->body = tir::LimitUnrolling(node->body, limits);
  return func;
}

/// The distinct kernels of a module, and the effort for each.
std::vector<Kernel> DistinctKernels(const IRModule& module, const CodegenOptions& options, size_t threads) {
  std::vector<std::string> names;
  std::vector<tir::PrimFunc> funcs;
  for (const auto& [var, func] : module->functions) {
    tir::PrimFunc prim_func = As<tir::PrimFunc>(func);
    if (!prim_func.defined()) continue;
    names.emplace_back(var->name_hint);
    funcs.push_back(WithoutAttr(std::move(prim_func), "global_symbol"));
  }
  std::vector<tir::NodeCount> counts(funcs.size());
  ForEachInParallel(funcs.size(), threads, [&](size_t i) { counts[i] = tir::CountNodes(funcs[i]->body); });
  const std::vector<size_t> first = tir::FirstEqual(funcs, threads);
  std::vector<Kernel> kernels;
  std::vector<size_t> place(funcs.size());
  // Of each, the nodes that all its calls execute.
  std::vector<double> executed;
  for (size_t i = 0; i < funcs.size(); ++i) {
    if (first[i] == i) {
      place[i] = kernels.size();
      kernels.push_back({funcs[i], {{}}, counts[i].nodes});
      executed.push_back(0);
    }
    const size_t at = place[first[i]];
    kernels[at].entries.front().names.push_back(names[i]);
    const auto calls = options.expected_calls.find(names[i]);
    const bool is_counted = calls != options.expected_calls.end();
    executed[at] += is_counted ? calls->second * counts[first[i]].executed : std::numeric_limits<double>::infinity();
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    const double to_optimize = kSecondsToOptimize + static_cast<double>(kernels[i].size) * kSecondsToOptimizeNode;
    const bool is_light = executed[i] * kSecondsOfNode < to_optimize;
    kernels[i].effort = is_light ? Effort::kLeast : std::isinf(executed[i]) ? Effort::kFull : Effort::kQuick;
  }
  return kernels;
}

/// Makes one of light kernels that differ in numbers alone.
std::vector<Kernel> WithSharedCode(std::vector<Kernel> kernels, size_t threads) {
  std::vector<size_t> light;
  for (size_t i = 0; i < kernels.size(); ++i) {
    // Kernels that take scalars of the caller's pass these on as they are.
    if (kernels[i].effort == Effort::kLeast && tir::KernelScalars(kernels[i].func).empty()) light.push_back(i);
  }
  std::vector<tir::PrimFunc> kinds(light.size());
  std::vector<std::vector<tir::KernelNumber>> numbers(light.size());
  ForEachInParallel(light.size(), threads, [&](size_t i) {
    tir::NumberedKernel numbered = tir::TakeNumbers(kernels[light[i]].func);
    kinds[i] = std::move(numbered.kind);
    numbers[i] = std::move(numbered.numbers);
  });
  const std::vector<size_t> first = tir::FirstEqual(kinds, threads);
  std::vector<std::vector<size_t>> alike(light.size());
  for (size_t i = 0; i < light.size(); ++i) alike[first[i]].push_back(i);
  std::erase_if(alike, [](const std::vector<size_t>& members) { return members.size() < 2; });
  ForEachInParallel(alike.size(), threads, [&](size_t kind) {
    std::vector<const std::vector<tir::KernelNumber>*> of_all;
    for (const size_t i : alike[kind]) of_all.push_back(&numbers[i]);
    Kernel& kernel = kernels[light[alike[kind].front()]];
    tir::SharedKernel shared = tir::ShareCode(kernel.func, of_all);
    kernel.func = std::move(shared.func);
    kernel.entries.front().scalars = std::move(shared.scalars.front());
    for (size_t i = 1; i < alike[kind].size(); ++i) {
      KernelEntry& entry = kernels[light[alike[kind][i]]].entries.front();
      kernel.entries.push_back({std::move(entry.names), std::move(shared.scalars[i])});
      entry.names.clear();
    }
  });
  std::erase_if(kernels, [](const Kernel& kernel) { return kernel.entries.front().names.empty(); });
  return kernels;
}

}  // namespace

std::vector<Kernel> KernelsToCompile(const IRModule& module, const CodegenOptions& options, size_t threads) {
  std::vector<Kernel> kernels = DistinctKernels(module, options, threads);
  if (threads == 0) {
    for (Kernel& kernel : kernels) kernel.effort = Effort::kFull;
  }
  ForEachInParallel(kernels.size(), threads, [&](size_t i) {
    if (kernels[i].effort == Effort::kFull) return;
    kernels[i].func = Limited(kernels[i].func, kernels[i].effort);
    kernels[i].size = tir::CountNodes(kernels[i].func->body).nodes;
  });
  if (threads != 0 && !options.check_bounds) kernels = WithSharedCode(std::move(kernels), threads);
  std::stable_sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) { return a.size > b.size; });
  return kernels;
}

std::vector<std::vector<const Kernel*>> Partition(const std::vector<Kernel>& kernels, Effort effort, size_t groups,
                                                  size_t threads) {
  groups = std::max<size_t>(1, std::min(groups, kernels.size()));
  threads = std::max<size_t>(1, threads);
  const size_t rounds = (groups + threads - 1) / threads;
  std::vector<std::vector<const Kernel*>> result(groups);
  std::vector<int64_t> load(groups, 0);
  for (const Kernel& kernel : kernels) {
    if (kernel.effort != effort) continue;
    const int64_t size = kernel.size + 100;
    size_t best = 0;
    double least = 0;
    for (size_t group = 0; group < groups; ++group) {
      const size_t rounds_left = rounds - group / threads;
      const double filled = static_cast<double>(load[group] + size) / static_cast<double>(rounds_left);
      if (group != 0 && filled >= least) continue;
      best = group;
      least = filled;
    }
    result[best].push_back(&kernel);
    load[best] += size;
  }
  std::erase_if(result, [](const auto& group) { return group.empty(); });
  return result;
}

}  // namespace deuteron::codegen
