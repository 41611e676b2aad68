#include "deuteron/codegen/llvm/finish_loops.h"

#include <algorithm>

namespace deuteron::codegen {
namespace {

/// In a loop of more instructions, its test and what it counts are little: LLVM would copy up to 600 in all. An access
/// is two.
constexpr unsigned kLargestCopied = 40;

unsigned SizeOf(const llvm::Loop& loop) {
  unsigned size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) size += static_cast<unsigned>(block->size());
  return size;
}

/// So many additions of vectors, also of products, are those of a tile.
constexpr auto kLeastSums = 8;

bool HasTile(const llvm::Function& function) {
  const auto is_sum = [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    const bool adds = instruction.getOpcode() == llvm::Instruction::FAdd ||
                      (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fmuladd);
    return adds && instruction.getType()->isVectorTy();
  };
  int64_t sums = 0;
  for (const llvm::BasicBlock& block : function) sums += std::count_if(block.begin(), block.end(), is_sum);
  return sums >= kLeastSums;
}

llvm::InstCombinePass CombineOnce() {
  return llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false));
}

}  // namespace

llvm::PreservedAnalyses SimplifyOpen::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (!function.hasFnAttribute(kHasOpenLoops)) return llvm::PreservedAnalyses::all();
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::CorrelatedValuePropagationPass());
  passes.addPass(CombineOnce());
  return passes.run(function, analyses);
}

llvm::PreservedAnalyses FinishLoops::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const bool is_asked_for = llvm::hasUnrollTransformation(loop) != llvm::TM_Unspecified;
    if (!is_asked_for && SizeOf(*loop) > kLargestCopied) loop->setLoopAlreadyUnrolled();
  }
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

llvm::PreservedAnalyses KnowLengths::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (!function.hasFnAttribute(kHasOpenLoops)) return llvm::PreservedAnalyses::all();
  return llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()).run(function, analyses);
}

llvm::PreservedAnalyses ShareValues::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (HasTile(function)) return llvm::EarlyCSEPass(/*UseMemorySSA=*/true).run(function, analyses);
  return llvm::GVNPass().run(function, analyses);
}

llvm::PreservedAnalyses TidyCopies::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (HasTile(function)) return llvm::InstSimplifyPass().run(function, analyses);
  return CombineOnce().run(function, analyses);
}

llvm::PreservedAnalyses ShareEnds::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const bool shares = !HasTile(function);
  return llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions()
                                   .forwardSwitchCondToPhi(true)
                                   .convertSwitchRangeToICmp(true)
                                   .convertSwitchToLookupTable(true)
                                   .needCanonicalLoops(false)
                                   .sinkCommonInsts(shares))
      .run(function, analyses);
}

}  // namespace deuteron::codegen
