/// \file
/// What LLVM's own passes over loops would find out at a tenth of the time of all.
#pragma once

#include "deuteron/codegen/llvm/llvm.h"

namespace deuteron::codegen {

/// Loops of constant length, whose tests LLVM makes of the number of the iteration that ends, ask for that of the next
/// one, which they have anyway. Those too large to be copied say so, so that LLVM does not weigh every instruction
/// first.
struct FinishLoops : llvm::PassInfoMixin<FinishLoops> {
  static constexpr const char* kName = "finish-loops";
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Simplifies branches. What both sides of one do is done once behind it, but for tiles: of one with all its rows and
/// one with some, the sums would change registers on the way.
struct ShareEnds : llvm::PassInfoMixin<ShareEnds> {
  static constexpr const char* kName = "share-ends";
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace deuteron::codegen
