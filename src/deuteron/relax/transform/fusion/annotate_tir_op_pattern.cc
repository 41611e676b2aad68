/// \file
/// AnnotateTIROpPattern: labels every kernel with its kind.
///
/// Purpose: FuseOps decides by the attribute `op_pattern` of the kernels that are called; this pass derives
/// it from their loops (tir/analysis/op_pattern.h).
///
/// It must not overrule a non-zero kind that is there already: legalisation of an operator, or a user, may
/// know better. Graph-level functions are not touched.
///
/// Place: after LegalizeOps, before FuseOps.
#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/tir/analysis/op_pattern.h"

namespace deuteron::relax {

Pass AnnotateTIROpPattern() {
  return transform::ModulePass(
      {.name = "AnnotateTIROpPattern"}, [](IRModule module, const transform::PassContext& context) {
        const auto scalars = transform::AsTVM(context) ? tir::IndexScalars::kUnknown : tir::IndexScalars::kNumbers;
        std::vector<std::pair<GlobalVar, tir::PrimFunc>> changed;
        for (const auto& [var, func] : module->functions) {
          auto kernel = As<tir::PrimFunc>(func);
          if (!kernel.defined() || kernel->HasNonzeroAttr("op_pattern")) continue;
          const auto kind = static_cast<int64_t>(tir::AnalyzeOpPattern(kernel, scalars));
          if (kernel->GetAttr<int64_t>("op_pattern") == kind) continue;
          changed.emplace_back(var, WithAttr(std::move(kernel), "op_pattern", kind));
        }
        for (auto& [var, func] : changed) module.Update(var, std::move(func));
        return module;
      });
}

}  // namespace deuteron::relax
