#include "deuteron/codegen/llvm/finish_loops.h"

#include <algorithm>

namespace deuteron::codegen {
namespace {

/// LLVM copies the bodies of loops up to 600 instructions in all, of two iterations at the least.
constexpr unsigned kLargestCopied = 300;

/// Makes `i < n` of the branch back, behind which the next iteration is `i + 1`, to `i + 1 != n + 1`: from no more than
/// n in steps of one, i meets it.
void CompareNext(const llvm::Loop& loop) {
  llvm::BasicBlock* latch = loop.getLoopLatch();
  const auto* branch = latch == nullptr ? nullptr : llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
  if (branch == nullptr || !branch->isConditional()) return;
  const bool goes_back = branch->getSuccessor(0) == loop.getHeader();
  auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (compare == nullptr || !compare->hasOneUse()) return;
  const auto predicate = goes_back ? compare->getPredicate() : compare->getInversePredicate();
  if (predicate != llvm::CmpInst::ICMP_ULT && predicate != llvm::CmpInst::ICMP_SLT) return;
  const auto* number = llvm::dyn_cast<llvm::PHINode>(compare->getOperand(0));
  const auto* limit = llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1));
  if (limit == nullptr || limit->isNegative() || limit->getValue().isMaxSignedValue()) return;
  if (number == nullptr || number->getParent() != loop.getHeader() || number->getNumIncomingValues() != 2) return;
  const int back = number->getBasicBlockIndex(latch);
  const auto* begin = llvm::dyn_cast<llvm::ConstantInt>(number->getIncomingValue(static_cast<unsigned>(1 - back)));
  if (begin == nullptr || begin->isNegative() || begin->getValue().ugt(limit->getValue())) return;
  auto* next = llvm::dyn_cast<llvm::BinaryOperator>(number->getIncomingValue(static_cast<unsigned>(back)));
  if (next == nullptr || next->getOpcode() != llvm::Instruction::Add || next->getOperand(0) != number) return;
  const auto* step = llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1));
  if (step == nullptr || !step->isOne()) return;
  if (next->getParent() != latch || compare->getParent() != latch) return;
  compare->moveBefore(latch->getTerminator());  // behind what it tests now
  compare->setPredicate(goes_back ? llvm::CmpInst::ICMP_NE : llvm::CmpInst::ICMP_EQ);
  compare->setOperand(0, next);
  compare->setOperand(1, llvm::ConstantInt::get(limit->getType(), limit->getValue() + 1));
}

unsigned SizeOf(const llvm::Loop& loop) {
  unsigned size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) size += static_cast<unsigned>(block->size());
  return size;
}

/// So many additions of vectors are those of a tile.
constexpr auto kLeastSums = 8;

bool HasTile(const llvm::Function& function) {
  const auto is_sum = [](const llvm::Instruction& instruction) {
    return instruction.getOpcode() == llvm::Instruction::FAdd && instruction.getType()->isVectorTy();
  };
  int64_t sums = 0;
  for (const llvm::BasicBlock& block : function) sums += std::count_if(block.begin(), block.end(), is_sum);
  return sums >= kLeastSums;
}

}  // namespace

llvm::PreservedAnalyses FinishLoops::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    CompareNext(*loop);
    const bool is_asked_for = llvm::hasUnrollTransformation(loop) != llvm::TM_Unspecified;
    if (!is_asked_for && SizeOf(*loop) > kLargestCopied) loop->setLoopAlreadyUnrolled();
  }
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
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
