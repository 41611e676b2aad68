/// \file
/// Constants of vectors as operands in memory.
#pragma once

#include "deuteron/codegen/llvm/llvm.h"

namespace deuteron::codegen {

/// x86 instructions without a broadcast of their own (those before AVX-512) read a whole vector from memory as cheaply
/// as a register. LLVM fills registers with constants by instructions of their own instead, each time anew where a
/// polynomial has more coefficients than there are registers: as many as it has multiply-adds. Such constants become
/// loads, one for each operand, which the instruction takes in. Run last: passes would make one of all loads of one
/// constant.
struct ConstantOperands : llvm::PassInfoMixin<ConstantOperands> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Whether that pays on a machine.
bool HasConstantOperands(const llvm::TargetMachine& machine);

}  // namespace deuteron::codegen
