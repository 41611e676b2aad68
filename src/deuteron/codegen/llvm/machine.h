/// \file
/// LLVM's target machine and pass pipeline for a Target.
#pragma once

#include <memory>
#include <string>

#include "deuteron/codegen/llvm/compile.h"
#include "deuteron/codegen/llvm/llvm.h"

namespace deuteron::codegen {

/// A machine of this target; not shared between threads. A UsageError names a triple that LLVM does not know.
std::unique_ptr<llvm::TargetMachine> MakeMachine(const Target& target, const CodegenOptions& options);

/// Runs LLVM's optimisations.
void Optimize(llvm::Module* module, llvm::TargetMachine* machine, const CodegenOptions& options);

/// Machine code of a module: an ELF object, or assembly.
std::string EmitFile(llvm::Module* module, llvm::TargetMachine* machine, llvm::CodeGenFileType type);

}  // namespace deuteron::codegen
