/// \file
/// Passes of ours between those of LLVM: they save it time that gains nothing.
#pragma once

#include "deuteron/codegen/llvm/llvm.h"

namespace deuteron::codegen {

/// Loops too large to be copied say so, so that LLVM does not weigh every instruction first.
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
