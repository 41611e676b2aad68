#include "deuteron/driver/pipeline.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <sstream>

#include "deuteron/backend/backends.h"
#include "deuteron/codegen/llvm/compile.h"
#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/report/record_kernels.h"
#include "deuteron/ir/transform/instruments.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/suggest.h"
#include "deuteron/tir/analysis/kernel_signature.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron {

using transform::Pass;

namespace {

constexpr PipelineEntry kPipelines[] = {
    // What a module hands to a library itself stays with it: MergeCompositeFunctions and RunCodegen come first, too.
    {"import", "tidies an imported graph, and evaluates what is constant in it",
     "MergeCompositeFunctions, RunCodegen, LambdaLift, CanonicalizeBindings, ConvertToDataflow, CheckExtents, "
     "FoldBatchnormToConv2D, DecomposeOpsForInference, SinkDequantize, @quantized, FoldConstant, "
     "DeadCodeElimination, @library, CombineMatmulsOfOneWeight, PackWeights"},
    {"fuse", "from operators to fused kernels",
     "LegalizeOps, AnnotateTIROpPattern, FoldConstant, SeparateOutputs, FuseOps, FuseReductions, FuseSiblings, "
     "RecomputeProducers, FuseTIR, DeadCodeElimination"},
    {"graph", "from an imported graph to fused kernels", "@import, @fuse"},
    {"schedule", "schedules kernels for the target", "ScheduleForCPU"},
    {"memory", "from calls of kernels to calls on planned memory",
     "RemovePurityChecking, CallTIRRewrite, StaticPlanBlockMemory, KillAfterLastUse"},
    {"default", "all that runs before code generation", "@graph, @schedule, @memory"},
};

/// What merges operators besides FuseOps, before it or after it.
constexpr std::string_view kMerging[] = {"CombineMatmulsOfOneWeight", "SeparateOutputs", "FuseReductions",
                                         "FuseSiblings", "RecomputeProducers"};

const PipelineEntry& FindPipeline(std::string_view name) {
  std::vector<std::string_view> names;
  std::string known;
  for (const PipelineEntry& entry : kPipelines) {
    if (name == entry.name) return entry;
    names.emplace_back(entry.name);
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  DEUTERON_THROW(UsageError) << "there is no pipeline \"" << name << "\"" << DidYouMean(name, names)
                             << "; the pipelines are: " << known;
}

}  // namespace

std::span<const PipelineEntry> AllPipelines() { return kPipelines; }

std::string PipelineText(std::string_view name, bool fuse, std::string_view backend) {
  std::string text;
  std::istringstream items(FindPipeline(name).passes);
  for (std::string item; std::getline(items >> std::ws, item, ',');) {
    if (item == "@quantized") {
      const backend::Backend* library = backend::FindBackend(backend);
      if (library == nullptr || library->partition_quantized == nullptr) continue;
      item = "FoldConstant(skip_ops=[relax.dequantize]),PartitionFor(backend=" + library->name + ",quantized=true)";
    } else if (item == "@library") {
      if (backend == "none" || backend == "auto") continue;
      item = "PartitionFor(backend=" + std::string(backend) + "),MergeCompositeFunctions,RunCodegen";
    } else if (item[0] == '@') {
      item = PipelineText(item.substr(1), fuse, backend);
    } else if (!fuse) {
      if (std::find(std::begin(kMerging), std::end(kMerging), item) != std::end(kMerging)) continue;
      if (item == "FuseOps") item = "FuseOps(fuse_opt_level=0)";
    }
    text += (text.empty() ? "" : ",") + item;
  }
  return text;
}

std::vector<Pass> Pipeline(std::string_view name, bool fuse, std::string_view backend) {
  return ParsePasses(PipelineText(name, fuse, backend));
}

std::vector<Pass> GraphPasses(bool fuse, std::string_view backend) { return Pipeline("graph", fuse, backend); }

std::vector<Pass> MemoryPasses() { return Pipeline("memory"); }

Pass SchedulePass(const Target& target) {
  return transform::ModulePass({.name = "ScheduleForCPU", .opt_level = 0},
                               [target](IRModule module, const transform::PassContext& context) {
                                 RecordKernels(module, context.decisions.get());
                                 std::vector<std::pair<GlobalVar, tir::PrimFunc>> scheduled;
                                 for (const auto& [var, func] : module->functions) {
                                   const auto kernel = As<tir::PrimFunc>(func);
                                   if (!kernel.defined() || tir::ReturnedValue(kernel).defined()) continue;
                                   tir::ScheduledFunc result = tir::ApplyScheduleRules(kernel, target);
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
                                   kernels.Update(GlobalVar(String(codegen::KernelSymbol(std::string(var->name_hint)))),
                                                  tir::LowerPrimFunc(kernel, target));
                                 }
                                 return kernels;
                               });
}

Pass GenerateCode(const Target& target) {
  return transform::ModulePass({.name = "GenerateCode"}, [target](IRModule module, const transform::PassContext&) {
    codegen::CompileProgram(module);
    codegen::CompileInMemory(LowerKernels(target)(module), target);
    return module;
  });
}

Pass PrintIR(const std::string& header) {
  return transform::PrintIR([](const IRModule& module) { return script::Print(module); }, &std::cerr, header);
}

}  // namespace deuteron
