#include "deuteron/driver/kernel_passes.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/codegen/machine_code.h"
#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/report/record_kernels.h"
#include "deuteron/ir/transform/instruments.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/limits.h"
#include "deuteron/support/parallel.h"
#include "deuteron/tir/analysis/kernel_signature.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron {

using transform::Pass;

namespace {

/// The functions of a module that become machine code; those of scalars become byte code.
std::vector<std::pair<GlobalVar, tir::PrimFunc>> KernelsOf(const IRModule& module) {
  std::vector<std::pair<GlobalVar, tir::PrimFunc>> kernels;
  for (const auto& [var, func] : module->functions) {
    const auto kernel = As<tir::PrimFunc>(func);
    if (kernel.defined() && !tir::ReturnedValue(kernel).defined()) kernels.emplace_back(var, kernel);
  }
  return kernels;
}

/// Beside more runs nothing counts that is done once.
constexpr int64_t kManyRuns = 1'000'000;
/// More calls of a kernel count as so many.
constexpr double kMostCalls = 1e15;

/// How often kernels are called in so many runs of `main`; without those that other functions call as well, whose calls
/// are not known.
std::unordered_map<std::string, int64_t> CallsOfKernels(const IRModule& module, int64_t runs) {
  std::unordered_map<std::string, int64_t> calls;
  std::unordered_set<std::string> unknown;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (!function.defined()) continue;
    const bool is_main = var->name_hint == "main";
    relax::VisitValues(function->body, [&](const relax::Expr& value) {
      if (!relax::IsAnyCallTIR(value)) return;
      const std::string name(relax::ViewCallTIR(Downcast<relax::Call>(value)).func->name_hint);
      calls[name] += runs;
      if (!is_main) unknown.insert(name);
    });
  }
  for (const std::string& name : unknown) calls.erase(name);
  return calls;
}

/// Puts what `change` makes of each kernel in its place.
void ForEachKernel(std::vector<std::pair<GlobalVar, tir::PrimFunc>>* kernels,
                   const std::function<tir::PrimFunc(size_t, const tir::PrimFunc&)>& change) {
  const auto threads = static_cast<size_t>(std::max<int64_t>(1, runtime::UsableThreads()));
  ForEachInParallel(kernels->size(), threads, [&](size_t i) {
    auto& [var, kernel] = (*kernels)[i];
    CheckBudget(std::string_view(var->name_hint.data(), var->name_hint.size()));
    kernel = change(i, kernel);
  });
}

}  // namespace

Pass ScheduleForCPU(const Target& target) {
  return transform::ModulePass(
      {.name = "ScheduleForCPU", .opt_level = 0}, [target](IRModule module, const transform::PassContext& context) {
        RecordKernels(module, context.decisions.get());
        auto kernels = KernelsOf(module);
        std::vector<std::string> rules(kernels.size());
        std::unordered_map<std::string, int64_t> calls;
        const int64_t runs = context.GetInt("expected_runs");
        if (runs > 0 && runs < kManyRuns) calls = CallsOfKernels(module, runs);
        ForEachKernel(&kernels, [&](size_t i, const tir::PrimFunc& kernel) {
          const auto tuned = kernel->GetAttr<String>(kScheduleTarget);
          Target own = tuned ? Target::Parse(std::string(*tuned)) : target;
          if (const auto known = calls.find(std::string(kernels[i].first->name_hint)); known != calls.end()) {
            own.machine.expected_calls = known->second;
          }
          tir::ScheduledFunc result = tir::ApplyScheduleRules(tir::PrimFunc(WithoutAttr(kernel, kScheduleTarget)), own);
          rules[i] = std::move(result.rule);
          return std::move(result.func);
        });
        for (size_t i = 0; i < kernels.size(); ++i) {
          const auto& [var, kernel] = kernels[i];
          context.decisions->Add({.pass = "ScheduleForCPU",
                                  .function = std::string(var->name_hint),
                                  .subject = std::string(var->name_hint),
                                  .object = rules[i],
                                  .reason = transform::Reason::kScheduleRule});
          module.Update(var, kernel);
        }
        return module;
      });
}

Pass LowerKernels(const Target& target, const std::unordered_map<std::string, double>& expected_calls) {
  return transform::ModulePass(
      {.name = "LowerKernels", .opt_level = 0}, [=](IRModule module, const transform::PassContext&) {
        auto kernels = KernelsOf(module);
        ForEachKernel(&kernels, [&](size_t i, const tir::PrimFunc& kernel) {
          Target own = target;
          const auto calls = expected_calls.find(codegen::KernelSymbol(std::string(kernels[i].first->name_hint)));
          if (calls != expected_calls.end())
            own.machine.expected_calls = static_cast<int64_t>(std::min(calls->second, kMostCalls));
          return tir::LowerPrimFunc(kernel, own);
        });
        IRModule lowered = IRModule::Empty();
        for (const auto& [var, kernel] : kernels) {
          lowered.Update(GlobalVar(String(codegen::KernelSymbol(std::string(var->name_hint)))), kernel);
        }
        return lowered;
      });
}

Pass GenerateCode(const Target& target) {
  return transform::ModulePass({.name = "GenerateCode"}, [target](IRModule module, const transform::PassContext&) {
    codegen::CompileProgram(module);
    codegen::EmitObjects(LowerKernels(target)(module), target);
    return module;
  });
}

Pass PrintIR(const std::string& header) {
  return transform::PrintIR([](const IRModule& module) { return script::Print(module); }, &std::cerr, header);
}

}  // namespace deuteron
