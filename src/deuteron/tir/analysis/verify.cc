#include "deuteron/tir/analysis/verify.h"

#include "deuteron/tir/analysis/verify_internal.h"

namespace deuteron::tir {

std::string BlockPrefix(const SBlockRealizeNode* realize) {
  return realize == nullptr ? "" : "block \"" + std::string(realize->block->name_hint) + "\": ";
}

std::vector<std::string> FindViolations(const PrimFunc& func, size_t limit) {
  Findings findings(limit);
  VerifyDefinitions(func, &findings);
  if (findings.empty()) {
    const FunctionAccesses accesses = CollectAccesses(func);
    VerifyAccesses(func, accesses, &findings);
    VerifyRaces(func, accesses, &findings);
  }
  return std::move(findings).Take();
}

}  // namespace deuteron::tir
