/// \file
/// For tests of programs that are written as instructions.
#pragma once

#include "deuteron/runtime/instruction.h"

namespace deuteron::runtime {

/// The first word of an instruction with so many words behind it.
inline uint32_t Word(Opcode opcode, uint32_t operands) { return static_cast<uint32_t>(opcode) | (operands + 1) << 8; }

}  // namespace deuteron::runtime
