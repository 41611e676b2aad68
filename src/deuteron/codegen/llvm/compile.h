/// \file
/// Lowered modules to machine code: in memory, as relocatable objects, as a shared object.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/runtime/kernel.h"
#include "deuteron/target/target.h"

namespace deuteron::codegen {

struct CodegenOptions {
  /// LLVM's pipeline: 0 to 3.
  int opt_level = 2;
  /// Threads that compile; 0 = the target's.
  int threads = 0;
  /// Verify LLVM's IR before it is optimised (tests do).
  bool verify = false;
  /// Every access of a kernel is compared with its buffer; one that lies outside ends the kernel with an error.
  bool check_bounds = false;
  /// How often kernels will be called, by name, where that is so seldom that the time counts in which they are
  /// compiled; others are called often.
  std::unordered_map<std::string, double> expected_calls;
};

/// Machine code in this process; owns it.
class CompiledKernels {
 public:
  /// Without kernels.
  CompiledKernels();
  ~CompiledKernels();
  CompiledKernels(CompiledKernels&&) noexcept;
  CompiledKernels& operator=(CompiledKernels&&) noexcept;
  /// The kernel of the PrimFunc of that name; null if there is none.
  DeuteronKernel Lookup(const std::string& name) const;

  struct Impl;
  explicit CompiledKernels(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// Compiles every PrimFunc of `lowered` (lowered by tir::LowerPrimFunc) into this process. Structurally equal ones
/// share their code. Throws UnsupportedError (element types, intrinsics, and a target that is not this machine's).
CompiledKernels CompileInMemory(const IRModule& lowered, const Target& target, const CodegenOptions& options = {});

/// The kernels of what EmitObjects gave, without a prefix, in this process. An UnsupportedError likewise.
CompiledKernels LoadObjects(const std::vector<std::string>& objects, const Target& target);

/// The same as relocatable ELF objects (one a compiling thread), kernels under the symbol
/// `symbol_prefix` + name.
std::vector<std::string> EmitObjects(const IRModule& lowered, const Target& target, const CodegenOptions& options = {},
                                     const std::string& symbol_prefix = "");
/// One object.
std::string EmitObject(const IRModule& lowered, const Target& target, const CodegenOptions& options = {},
                       const std::string& symbol_prefix = "");

/// Of LLVM, "19.1.7".
std::string LlvmVersion();

/// For readers and tests.
std::string EmitLlvmIr(const IRModule& lowered, const Target& target, const CodegenOptions& options = {});
std::string EmitAssembly(const IRModule& lowered, const Target& target, const CodegenOptions& options = {});

}  // namespace deuteron::codegen
