#include "deuteron/backend/partition.h"

#include <mutex>

#include "deuteron/backend/backends.h"
#include "deuteron/backend/cublas/patterns.h"
#include "deuteron/backend/cudnn/patterns.h"
#include "deuteron/backend/cutlass/patterns.h"
#include "deuteron/relax/dpl/registry.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/plugin_ahead.h"
#include "deuteron/support/error.h"

namespace deuteron::backend {

void RegisterLibraryPatterns() {
  static std::once_flag once;
  std::call_once(once, [] {
    relax::RegisterPatterns(cublas::Patterns());
    relax::RegisterPatterns(cudnn::Patterns());
    relax::RegisterPatterns(cutlass::Patterns());
  });
}

namespace {

using Partition = IRModule (*)(IRModule);

/// Null for libraries that bring their own.
Partition FindPartition(const std::string& library) {
  if (library == "cublas") return [](IRModule module) { return PartitionForCublas(std::move(module)); };
  if (library == "cudnn") return [](IRModule module) { return PartitionForCudnn(std::move(module)); };
  if (library == "cutlass") return [](IRModule module) { return PartitionForCutlass(std::move(module)); };
  return nullptr;
}

/// For each library in turn, what pays.
void PartitionForAll(bool quantized, IRModule* module, const transform::PassContext& context) {
  for (const Backend& backend : AllBackends()) {
    if (backend.partition_paying == nullptr) continue;
    // A library is loaded, which takes as long as some kernels are compiled for, once something is for it.
    std::string missing = runtime::PluginAbsence(std::string(backend.name));
    if (missing.empty()) {
      const IRModule before = *module;
      backend.partition_paying(quantized)->Run(module, context);
      if ((*module)->functions.size() == before->functions.size()) continue;
      if (context.opens_libraries_meanwhile) runtime::OpenPluginAhead(backend.name);
      missing = backend.codegen.WhyNot(context);
      if (!missing.empty()) *module = before;
    }
    if (!missing.empty()) {
      context.decisions->Add({.pass = "PartitionFor",
                              .subject = backend.name,
                              .reason = transform::Reason::kLibraryMissing,
                              .message = missing});
    }
  }
}

}  // namespace

transform::Pass PartitionFor(const std::string& library, bool quantized) {
  if (!library.empty()) GetBackend(library);  // a wrong name is told before the pass runs
  return transform::StepwisePass(
      {.name = "PartitionFor"}, [library, quantized](IRModule* module, const transform::PassContext& context) {
        const std::string name = library.empty() ? context.GetString("relax.PartitionFor.backend") : library;
        if (name == "none") return;
        if (name == "auto") return PartitionForAll(quantized, module, context);
        const Backend& backend = GetBackend(name);
        const auto& partition = quantized ? backend.partition_quantized : backend.partition;
        if (partition != nullptr) partition()->Run(module, context);
      });
}

std::optional<transform::Pass> DocumentedPartition(const std::string& library) {
  const Partition partition = FindPartition(library);
  if (partition == nullptr) return std::nullopt;
  return transform::ModulePass({.name = "PartitionFor"}, [partition](IRModule module, const transform::PassContext&) {
    return partition(std::move(module));
  });
}

IRModule PartitionByPrefix(IRModule module, std::string_view prefix, relax::FuseOpsByPatternOptions options) {
  RegisterLibraryPatterns();
  return relax::FuseOpsByPattern(relax::GetPatternsWithPrefix(prefix), std::move(options))(std::move(module));
}

}  // namespace deuteron::backend
