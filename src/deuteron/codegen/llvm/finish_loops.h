/// \file
/// Passes of ours between those of LLVM: they save it time that gains nothing.
#pragma once

#include "deuteron/codegen/llvm/llvm.h"

namespace deuteron::codegen {

/// Attribute of functions with loops whose length the run tells, or with conditions on what it tells.
constexpr const char* kHasOpenLoops = "deuteron-open-loops";

/// Simplifies what conditions on lengths that the run tells have left. Where all are constants, nothing is.
struct SimplifyOpen : llvm::PassInfoMixin<SimplifyOpen> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Loops too large to be copied say so, so that LLVM does not weigh every instruction first.
struct FinishLoops : llvm::PassInfoMixin<FinishLoops> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Finds out what follows from the lengths of loops for the conditions in them. Those of constant length have none
/// left.
struct KnowLengths : llvm::PassInfoMixin<KnowLengths> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Computes once what is computed on every way to where it is needed. Tiles are copies of one sequence of instructions:
/// to look at what comes before suffices.
struct ShareValues : llvm::PassInfoMixin<ShareValues> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Simplifies what copies of the bodies of loops have left. Tiles are no such copies.
struct TidyCopies : llvm::PassInfoMixin<TidyCopies> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Simplifies branches. What both sides of one do is done once behind it, but for tiles: of one with all its rows and
/// one with some, the sums would change registers on the way.
struct ShareEnds : llvm::PassInfoMixin<ShareEnds> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace deuteron::codegen
