#include "deuteron/driver/kernel_passes.h"

#include <iostream>

#include "deuteron/codegen/llvm/compile.h"
#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/report/record_kernels.h"
#include "deuteron/ir/transform/instruments.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/limits.h"
#include "deuteron/tir/analysis/kernel_signature.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron {

using transform::Pass;

Pass ScheduleForCPU(const Target& target) {
  return transform::ModulePass(
      {.name = "ScheduleForCPU", .opt_level = 0}, [target](IRModule module, const transform::PassContext& context) {
        RecordKernels(module, context.decisions.get());
        std::vector<std::pair<GlobalVar, tir::PrimFunc>> scheduled;
        for (const auto& [var, func] : module->functions) {
          const auto kernel = As<tir::PrimFunc>(func);
          if (!kernel.defined() || tir::ReturnedValue(kernel).defined()) continue;
          CheckBudget(std::string_view(var->name_hint.data(), var->name_hint.size()));
          const auto tuned = kernel->GetAttr<String>(kScheduleTarget);
          tir::ScheduledFunc result = tir::ApplyScheduleRules(tir::PrimFunc(WithoutAttr(kernel, kScheduleTarget)),
                                                              tuned ? Target::Parse(std::string(*tuned)) : target);
          context.decisions->Add({.pass = "ScheduleForCPU",
                                  .function = std::string(var->name_hint),
                                  .subject = std::string(var->name_hint),
                                  .object = result.rule,
                                  .reason = transform::Reason::kScheduleRule});
          scheduled.emplace_back(var, std::move(result.func));
        }
        for (auto& [var, func] : scheduled) module.Update(var, func);
        return module;
      });
}

Pass LowerKernels(const Target& target) {
  return transform::ModulePass({.name = "LowerKernels", .opt_level = 0},
                               [target](IRModule module, const transform::PassContext&) {
                                 IRModule kernels = IRModule::Empty();
                                 for (const auto& [var, func] : module->functions) {
                                   const auto kernel = As<tir::PrimFunc>(func);
                                   // Functions of scalars become byte code.
                                   if (!kernel.defined() || tir::ReturnedValue(kernel).defined()) continue;
                                   CheckBudget(std::string_view(var->name_hint.data(), var->name_hint.size()));
                                   kernels.Update(GlobalVar(String(codegen::KernelSymbol(std::string(var->name_hint)))),
                                                  tir::LowerPrimFunc(kernel, target));
                                 }
                                 return kernels;
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
