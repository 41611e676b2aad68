/// \file
/// Copies of a chain of operations, one after the other, brought side by side.
///
/// A processor looks ahead as far as its queues of instructions that wait have room (64 to 128 on Zen 3, some 100 on
/// Skylake): two copies of a function such as erf, each step of which waits for the one before. Interleaved, as many
/// chains are under way as there are copies, and constants are loaded once for all.
#pragma once

#include <vector>

#include "deuteron/codegen/llvm/llvm.h"

namespace deuteron::codegen {

/// Takes in turn an instruction of each copy. `ends`: the last instruction of the block before the first copy (null: it
/// begins the block), and that of each copy. No copy reads what another one writes.
void InterleaveCopies(llvm::BasicBlock* block, const std::vector<llvm::Instruction*>& ends);

}  // namespace deuteron::codegen
