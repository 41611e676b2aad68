#include "deuteron/driver/kernel_passes.h"

#include <algorithm>
#include <functional>
#include <iostream>

#include "deuteron/codegen/machine_code.h"
#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/report/record_kernels.h"
#include "deuteron/ir/transform/instruments.h"
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
        ForEachKernel(&kernels, [&](size_t i, const tir::PrimFunc& kernel) {
          const auto tuned = kernel->GetAttr<String>(kScheduleTarget);
          tir::ScheduledFunc result = tir::ApplyScheduleRules(tir::PrimFunc(WithoutAttr(kernel, kScheduleTarget)),
                                                              tuned ? Target::Parse(std::string(*tuned)) : target);
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

Pass LowerKernels(const Target& target) {
  return transform::ModulePass({.name = "LowerKernels", .opt_level = 0}, [target](IRModule module,
                                                                                  const transform::PassContext&) {
    auto kernels = KernelsOf(module);
    ForEachKernel(&kernels, [&](size_t, const tir::PrimFunc& kernel) { return tir::LowerPrimFunc(kernel, target); });
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
