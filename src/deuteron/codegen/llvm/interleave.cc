#include "deuteron/codegen/llvm/interleave.h"

#include <algorithm>
#include <unordered_set>

namespace deuteron::codegen {

void InterleaveCopies(llvm::BasicBlock* block, const std::vector<llvm::Instruction*>& ends) {
  std::vector<std::vector<llvm::Instruction*>> copies;
  std::unordered_set<const llvm::Value*> waiting;
  auto at = ends.front() == nullptr ? block->begin() : std::next(ends.front()->getIterator());
  for (size_t i = 1; i < ends.size(); ++i) {
    copies.emplace_back();
    if (ends[i] == ends[i - 1]) continue;
    for (const auto end = std::next(ends[i]->getIterator()); at != end; ++at) {
      copies.back().push_back(&*at);
      waiting.insert(&*at);
    }
  }
  // What later copies share with the first is computed there: they wait for it.
  const auto is_ready = [&](const llvm::Instruction* instruction) {
    return std::none_of(instruction->op_begin(), instruction->op_end(),
                        [&](const llvm::Use& operand) { return waiting.count(operand.get()) != 0; });
  };
  std::vector<size_t> next(copies.size(), 0);
  while (!waiting.empty()) {
    for (size_t i = 0; i < copies.size(); ++i) {
      if (next[i] == copies[i].size() || !is_ready(copies[i][next[i]])) continue;
      llvm::Instruction* instruction = copies[i][next[i]++];
      instruction->moveBefore(*block, block->end());
      waiting.erase(instruction);
    }
  }
}

}  // namespace deuteron::codegen
