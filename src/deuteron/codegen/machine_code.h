/// \file
/// Lowered modules to machine code: in memory, as relocatable objects, as a shared object. What makes it, with all of
/// LLVM, is a library of its own (libdeuteron_llvm.so) that is opened when the first kernel is compiled: a process that
/// runs what was compiled before does without, and so does one whose kernels are all a library's.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/runtime/kernel.h"
#include "deuteron/support/thread_placement.h"
#include "deuteron/target/target.h"

namespace deuteron::codegen {

struct CodegenOptions {
  /// LLVM's pipeline: 0 = none, 1 = what takes little time, 2 = all.
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
  /// Code, of whichever generator.
  struct Code {
    virtual ~Code() = default;
    virtual DeuteronKernel Lookup(const std::string& name) const = 0;
  };
  /// Without kernels.
  CompiledKernels() = default;
  explicit CompiledKernels(std::unique_ptr<const Code> code) : code_(std::move(code)) {}
  /// The kernel of the PrimFunc of that name; null if there is none.
  DeuteronKernel Lookup(const std::string& name) const { return code_ == nullptr ? nullptr : code_->Lookup(name); }

 private:
  std::unique_ptr<const Code> code_;
};

/// Compiles every PrimFunc of `lowered` (lowered by tir::LowerPrimFunc) into this process. Structurally equal ones
/// share their code. Throws UnsupportedError (element types, intrinsics, and a target that is not this machine's).
CompiledKernels CompileInMemory(const IRModule& lowered, const Target& target, const CodegenOptions& options = {});

/// The kernels of what EmitObjects gave, without a prefix, in this process. An UnsupportedError likewise.
CompiledKernels LoadObjects(const std::vector<std::string>& objects, const Target& target);

/// Whether the module has a PrimFunc, which asks for code.
bool HasKernels(const IRModule& module);

/// The same as relocatable ELF objects (one a compiling thread), kernels under the symbol
/// `symbol_prefix` + name. None without a kernel.
std::vector<std::string> EmitObjects(const IRModule& lowered, const Target& target, const CodegenOptions& options = {},
                                     const std::string& symbol_prefix = "");

/// The bytes of an ELF shared object of `objects` (EmitObjects) that exports all their kernels; none of none. C's
/// mathematical functions stay undefined: the process that loads it has them. Calls run one at a time (lld has
/// global state). An InternalError carries the linker's messages.
std::string LinkSharedObject(const std::vector<std::string>& objects);

/// Of LLVM, "19.1.7".
std::string LlvmVersion();

/// What all of these ask. Each throws what they do.
class MachineCodeGenerator {
 public:
  virtual ~MachineCodeGenerator() = default;
  virtual std::vector<std::string> EmitObjects(const IRModule& lowered, const Target& target,
                                               const CodegenOptions& options,
                                               const std::string& symbol_prefix) const = 0;
  virtual CompiledKernels LoadObjects(const std::vector<std::string>& objects, const Target& target) const = 0;
  virtual std::string LinkSharedObject(const std::vector<std::string>& objects) const = 0;
  virtual std::string Version() const = 0;
};

/// Opens the library of the generator in a thread of its own while this lives: who needs it waits the less for it. What
/// is wrong with it is told by the first that does.
class GeneratorAhead {
 public:
  GeneratorAhead();

 private:
  ThreadBeside thread_;
};

/// The file that the generator is, or would be, read from; empty where it is a part of the program.
std::string GeneratorFile();

}  // namespace deuteron::codegen
