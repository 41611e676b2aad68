#include "deuteron/codegen/machine_code.h"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <mutex>

#include "deuteron/support/error.h"
#include "deuteron/support/fork.h"
#include "deuteron/support/shared_library.h"
#include "deuteron/tir/function.h"
#include "deuteron_llvm_stamp.h"

/// What a generator is found by: its name changes with the headers that both sides are compiled with. Defined where the
/// layer codegen_llvm is linked in, as in tests; else the library defines it.
extern "C" __attribute__((weak)) const deuteron::codegen::MachineCodeGenerator* DEUTERON_MACHINE_CODE_GENERATOR();

namespace deuteron::codegen {
namespace {

constexpr const char* kFile = "libdeuteron_llvm.so";
#define DEUTERON_TEXT_OF(name) #name
#define DEUTERON_TEXT(name) DEUTERON_TEXT_OF(name)
constexpr const char* kSymbol = DEUTERON_TEXT(DEUTERON_MACHINE_CODE_GENERATOR);

/// What lies beside it as the library of the generator does.
const void* ThisLibrary() { return reinterpret_cast<const void*>(&GeneratorFile); }

/// The generator, once it was looked for. A fork waits until the library is not being opened: the dynamic linker would
/// stay locked in the child.
struct Opened {
  Opened() { HoldAcrossFork(&mutex); }
  static Opened& Get() {
    static auto* opened = new Opened;
    return *opened;
  }
  std::mutex mutex;
  const MachineCodeGenerator* generator = nullptr;
};

const MachineCodeGenerator& Generator() {
  if (DEUTERON_MACHINE_CODE_GENERATOR != nullptr) return *DEUTERON_MACHINE_CODE_GENERATOR();
  Opened& opened = Opened::Get();
  const std::lock_guard lock(opened.mutex);
  if (opened.generator != nullptr) return *opened.generator;
  const SharedLibrary library = OpenBeside(ThisLibrary(), kFile, "the library of the compiler");
  if (library.is_for_memory) DEUTERON_THROW(MemoryError) << "out of memory: " << library.problem;
  if (library.handle == nullptr) {
    DEUTERON_THROW(UnsupportedError) << "nothing can be compiled here, only what was compiled before be run: "
                                     << library.problem;
  }
  auto* find = reinterpret_cast<const MachineCodeGenerator* (*)()>(dlsym(library.handle, kSymbol));
  if (find == nullptr) {
    DEUTERON_THROW(UnsupportedError) << kFile
                                     << " and the libdeuteron.so that opens it are of different builds: install "
                                     << "both of one";
  }
  opened.generator = find();
  return *opened.generator;
}

}  // namespace

bool HasKernels(const IRModule& module) {
  return std::any_of(module->functions.begin(), module->functions.end(),
                     [](const auto& entry) { return entry.second->template IsInstance<tir::PrimFuncNode>(); });
}

CompiledKernels CompileInMemory(const IRModule& lowered, const Target& target, const CodegenOptions& options) {
  return LoadObjects(EmitObjects(lowered, target, options), target);
}

CompiledKernels LoadObjects(const std::vector<std::string>& objects, const Target& target) {
  return objects.empty() ? CompiledKernels() : Generator().LoadObjects(objects, target);
}

std::vector<std::string> EmitObjects(const IRModule& lowered, const Target& target, const CodegenOptions& options,
                                     const std::string& symbol_prefix) {
  if (!HasKernels(lowered)) return {};
  return Generator().EmitObjects(lowered, target, options, symbol_prefix);
}

std::string LinkSharedObject(const std::vector<std::string>& objects) {
  return objects.empty() ? "" : Generator().LinkSharedObject(objects);
}

std::string LlvmVersion() { return Generator().Version(); }

GeneratorAhead::GeneratorAhead() {
  if (DEUTERON_MACHINE_CODE_GENERATOR != nullptr) return;
  Opened& opened = Opened::Get();
  {
    const std::unique_lock lock(opened.mutex, std::try_to_lock);
    if (!lock.owns_lock() || opened.generator != nullptr) return;
  }
  try {
    thread_ = ThreadBeside([] {
      try {
        Generator();
      } catch (const std::exception&) {
        // Whoever needs it tries again.
      }
    });
  } catch (const std::exception&) {
    // There is no thread for it.
  }
}

std::string GeneratorFile() {
  if (DEUTERON_MACHINE_CODE_GENERATOR != nullptr) return "";
  return FindBeside(ThisLibrary(), kFile);
}

}  // namespace deuteron::codegen
