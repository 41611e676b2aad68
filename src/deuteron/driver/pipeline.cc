#include "deuteron/driver/pipeline.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/constant_evaluator.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/relax/transform/vm_passes.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron {

using transform::Pass;

std::vector<Pass> GraphPasses(bool fuse) {
  const auto evaluator = MakeConstantEvaluator();
  std::vector<Pass> passes = {
      relax::CanonicalizeBindings(),
      relax::ConvertToDataflow(),
      relax::FoldBatchnormToConv2D(),
      relax::DecomposeOpsForInference(),
      relax::FoldConstant(evaluator),
      relax::DeadCodeElimination(),
      relax::CombineMatmulsOfOneWeight(),
      relax::PackConvWeights(),
      relax::LegalizeOps(),
      relax::AnnotateTIROpPattern(),
      relax::FoldConstant(evaluator),
      relax::FuseOps({.fuse_opt_level = fuse ? -1 : 0}),
      relax::FuseTIR(),
      relax::DeadCodeElimination(),
  };
  if (!fuse) {
    // What merges operators too, before FuseOps or after it.
    static const std::set<std::string_view> merging = {"CombineMatmulsOfOneWeight"};
    std::erase_if(passes, [](const Pass& pass) { return merging.count(pass->info.name) != 0; });
  }
  return passes;
}

std::vector<Pass> MemoryPasses() {
  return {relax::RemovePurityChecking(), relax::CallTIRRewrite(), relax::StaticPlanBlockMemory(),
          relax::KillAfterLastUse()};
}

Pass SchedulePass(const Target& target) {
  return transform::ModulePass({.name = "ScheduleForCPU", .opt_level = 0},
                               [target](IRModule module, const transform::PassContext& context) {
                                 std::vector<std::pair<GlobalVar, tir::PrimFunc>> scheduled;
                                 for (const auto& [var, func] : module->functions) {
                                   const auto kernel = As<tir::PrimFunc>(func);
                                   if (!kernel.defined()) continue;
                                   tir::ScheduledFunc result = tir::ApplyScheduleRules(kernel, target);
                                   context.decisions->Add({.pass = "ScheduleForCPU",
                                                           .function = std::string(var->name_hint),
                                                           .subject = std::string(var->name_hint),
                                                           .reason = result.rule,
                                                           .message = "scheduled by the rule " + result.rule});
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
                                   if (!kernel.defined()) continue;
                                   kernels.Update(GlobalVar(String(codegen::KernelSymbol(std::string(var->name_hint)))),
                                                  tir::LowerPrimFunc(kernel, target));
                                 }
                                 return kernels;
                               });
}

std::string DecisionsToJson(const transform::DecisionLog& log) {
  nlohmann::json list = nlohmann::json::array();
  const auto place = [](const Span& span) { return span.defined() ? std::string(span->source) : std::string(); };
  for (const transform::Decision& decision : log.decisions()) {
    list.push_back({{"pass", decision.pass},
                    {"function", decision.function},
                    {"subject", decision.subject},
                    {"object", decision.object},
                    {"reason", decision.reason},
                    {"message", decision.message},
                    {"figures", decision.figures},
                    {"subject_at", place(decision.subject_span)},
                    {"object_at", place(decision.object_span)}});
  }
  return nlohmann::json{{"decisions", std::move(list)}}.dump();
}

}  // namespace deuteron
