/// \file
/// The generator of machine code (codegen/machine_code.h) that LLVM is; what readers and tests ask of it besides.
#pragma once

#include <string>

#include "deuteron/codegen/machine_code.h"

namespace deuteron::codegen {

/// LLVM's IR of a lowered module, optimised.
std::string EmitLlvmIr(const IRModule& lowered, const Target& target, const CodegenOptions& options = {});
std::string EmitAssembly(const IRModule& lowered, const Target& target, const CodegenOptions& options = {});

}  // namespace deuteron::codegen
