#include "deuteron/codegen/llvm/compile.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/codegen/llvm/kernel_list.h"
#include "deuteron/codegen/llvm/link.h"
#include "deuteron/codegen/llvm/machine.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/executable_memory.h"
#include "deuteron/support/limits.h"
#include "deuteron/support/memory_library.h"
#include "deuteron/support/parallel.h"
#include "deuteron_llvm_stamp.h"

namespace deuteron::codegen {
namespace {

enum class Product { kObject, kAssembly, kOptimizedIr };

/// That LLVM did not follow a hint (to unroll a loop, say) is nothing to tell a user.
struct HintsAreHints : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    return info.getKind() == llvm::DK_OptimizationFailure;
  }
};

/// Asked by LLVM before each of its passes that may be left out: once the budget is used up, or another thread has
/// failed, nothing more is worth the time.
class PassGate : public llvm::OptPassGate {
 public:
  explicit PassGate(std::atomic<bool>* failed) : failed_(failed) {}
  bool isEnabled() const override { return true; }
  bool shouldRunPass(const llvm::StringRef pass, llvm::StringRef) override {
    if (error_ || failed_->load(std::memory_order_relaxed)) return false;
    // No exception goes through LLVM.
    try {
      CheckBudget({pass.data(), pass.size()});
      return true;
    } catch (...) {
      error_ = std::current_exception();
      failed_->store(true);
      return false;
    }
  }
  /// Throws what was thrown; whether a result is still wanted.
  bool Goes() const {
    if (error_) std::rethrow_exception(error_);
    return !failed_->load();
  }

 private:
  std::atomic<bool>* failed_;
  std::exception_ptr error_;
};

/// Machines for one target, each of which one thread uses at a time: to make one, and what it knows of the CPU, takes
/// as long as a small kernel.
class Machines {
 public:
  Machines(const Target& target, const CodegenOptions& options) : target_(target), options_(options) {}

  std::unique_ptr<llvm::TargetMachine> Take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<llvm::TargetMachine> machine = std::move(idle_.back());
        idle_.pop_back();
        return machine;
      }
    }
    return MakeMachine(target_, options_);
  }
  void GiveBack(std::unique_ptr<llvm::TargetMachine> machine) {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(machine));
  }

 private:
  const Target& target_;
  const CodegenOptions& options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_;
};

/// Nothing if another thread failed meanwhile.
std::string CompileGroup(const std::vector<const Kernel*>& kernels, const Target& target, const CodegenOptions& options,
                         const std::string& prefix, Product product, llvm::TargetMachine* machine,
                         std::atomic<bool>* failed) {
  PassGate gate(failed);
  llvm::LLVMContext context;
  context.setOptPassGate(gate);
  context.setDiagnosticHandler(std::make_unique<HintsAreHints>());
  llvm::Module module("deuteron", context);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  KernelEmitter emitter(&module, target, options);
  for (const Kernel* kernel : kernels) {
    const std::string& name = kernel->entries.front().names.front();
    CheckBudget(name);
    llvm::Function* shared = kernel->entries.size() == 1 ? nullptr : emitter.EmitShared(kernel->func, prefix + name);
    for (const KernelEntry& entry : kernel->entries) {
      const std::string symbol = prefix + entry.names.front();
      llvm::Function* function =
          shared == nullptr ? emitter.Emit(kernel->func, symbol) : emitter.EmitEntry(shared, entry.scalars, symbol);
      for (size_t i = 1; i < entry.names.size(); ++i) llvm::GlobalAlias::create(prefix + entry.names[i], function);
    }
  }
  const std::string cpu = machine->getTargetCPU().str();
  const std::string features = machine->getTargetFeatureString().str();
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", cpu);
    function.addFnAttr("tune-cpu", target.CpuOfTable());
    function.addFnAttr("target-features", features);
  }
  if (options.verify) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    DEUTERON_CHECK(!llvm::verifyModule(module, &stream)) << "invalid LLVM IR: " << message;
  }
  Optimize(&module, machine, options);
  if (!gate.Goes()) return {};
  if (product == Product::kOptimizedIr) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return text;
  }
  std::string code =
      EmitFile(&module, machine,
               product == Product::kObject ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile);
  return gate.Goes() ? code : std::string();
}

/// Kernels of so many nodes are worth the time that LLVM takes to begin and to end.
constexpr int64_t kNodesOfGroup = 1500;
/// Groups that a thread compiles one after the other, the more the less there is in memory at once, and the sooner
/// threads end that have begun together.
constexpr size_t kFewestGroupsOfThread = 2;
constexpr size_t kMostGroupsOfThread = 8;
/// Of light kernels, to begin and to end is a greater part.
constexpr size_t kMostLightGroupsOfThread = 3;

/// Compiles in groups, several at once; the first exception of any is thrown again. Without threads: all as one.
std::vector<std::string> CompileGroups(const IRModule& lowered, const Target& target, const CodegenOptions& options,
                                       const std::string& prefix, Product product, size_t threads) {
  const std::vector<Kernel> kernels = KernelsToCompile(lowered, options, threads);
  std::vector<std::pair<Effort, std::vector<const Kernel*>>> groups;
  for (const Effort effort : {Effort::kFull, Effort::kQuick, Effort::kLeast}) {
    int64_t nodes = 0;
    for (const Kernel& kernel : kernels) nodes += kernel.effort == effort ? kernel.size : 0;
    const size_t most = effort == Effort::kLeast ? kMostLightGroupsOfThread : kMostGroupsOfThread;
    const size_t count =
        std::clamp(static_cast<size_t>(nodes / kNodesOfGroup), kFewestGroupsOfThread * threads, most * threads);
    for (auto& group : Partition(kernels, effort, count, threads)) groups.emplace_back(effort, std::move(group));
  }
  // An object without kernels is one, too.
  if (groups.empty()) groups.emplace_back();
  CodegenOptions light = options;
  light.opt_level = 1;
  std::vector<std::string> results(groups.size());
  std::atomic<bool> failed{false};
  Machines machines(target, options), light_machines(target, light);
  ForEachInParallel(groups.size(), threads, [&](size_t i) {
    try {
      const auto& [effort, group] = groups[i];
      const bool is_light = effort == Effort::kLeast;
      Machines* made = is_light ? &light_machines : &machines;
      std::unique_ptr<llvm::TargetMachine> machine = made->Take();
      machine->setFastISel(effort != Effort::kFull && machine->getTargetTriple().isX86());
      results[i] = CompileGroup(group, target, is_light ? light : options, prefix, product, machine.get(), &failed);
      made->GiveBack(std::move(machine));
    } catch (...) {
      failed.store(true);
      throw;
    }
  });
  return results;
}

size_t CompileThreads(const Target& target, const CodegenOptions& options) {
  return static_cast<size_t>(std::max<int64_t>(1, options.threads > 0 ? options.threads : runtime::UsableThreads()));
}

[[noreturn]] void Fail(llvm::Error error) {
  bool is_for_memory = false;
  error = llvm::handleErrors(std::move(error), [&](std::unique_ptr<llvm::ErrorInfoBase> info) {
    is_for_memory |= info->convertToErrorCode() == std::errc::not_enough_memory;
    return llvm::Error(std::move(info));
  });
  const std::string message = llvm::toString(std::move(error));
  if (is_for_memory) DEUTERON_THROW(MemoryError) << "out of memory: " << message;
  DEUTERON_THROW(InternalError) << "LLVM: " << message;
}

template <typename T>
T Must(llvm::Expected<T> value) {
  if (value) return std::move(*value);
  Fail(value.takeError());
}

void Must(llvm::Error error) {
  if (error) Fail(std::move(error));
}

struct LoadedCode : CompiledKernels::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;

  DeuteronKernel Lookup(const std::string& name) const override {
    auto symbol = jit->lookup(name);
    if (symbol) return symbol->toPtr<DeuteronKernel>();
    llvm::Error other = llvm::handleErrors(symbol.takeError(), [](const llvm::orc::SymbolsNotFound&) {});
    Must(std::move(other));
    return nullptr;
  }
};

/// Of a shared object that the dynamic linker has opened.
struct LinkedCode : CompiledKernels::Code {
  std::shared_ptr<void> library;

  DeuteronKernel Lookup(const std::string& name) const override {
    return reinterpret_cast<DeuteronKernel>(dlsym(library.get(), name.c_str()));
  }
};

/// Where what was written may not be executed, what was mapped from a file may.
std::unique_ptr<const CompiledKernels::Code> LoadLinked(const std::vector<std::string>& objects) {
  auto code = std::make_unique<LinkedCode>();
  std::string why;
  code->library = OpenLibraryOfBytes(LinkObjects(objects), "deuteron-kernels", &why);
  if (code->library == nullptr) {
    DEUTERON_THROW(UnsupportedError) << "this process may not execute code that it writes, nor load it: " << why
                                     << "; compile the model elsewhere (deuteron compile) and run what that writes";
  }
  return code;
}

class LlvmGenerator : public MachineCodeGenerator {
 public:
  std::vector<std::string> EmitObjects(const IRModule& lowered, const Target& target, const CodegenOptions& options,
                                       const std::string& symbol_prefix) const override {
    return CompileGroups(lowered, target, options, symbol_prefix, Product::kObject, CompileThreads(target, options));
  }

  CompiledKernels LoadObjects(const std::vector<std::string>& objects, const Target& target) const override {
    if (const std::string why = target.WhyNotHere(); !why.empty()) {
      DEUTERON_THROW(UnsupportedError) << "code for a machine " << why << " cannot be run here";
    }
    if (!MayExecuteWhatItWrites()) return CompiledKernels(LoadLinked(objects));
    auto code = std::make_unique<LoadedCode>();
    const auto machine = MakeMachine(target, {});
    code->jit = Must(llvm::orc::LLJITBuilder().setDataLayout(machine->createDataLayout()).create());
    llvm::orc::JITDylib& library = code->jit->getMainJITDylib();
    library.addGenerator(Must(
        llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(code->jit->getDataLayout().getGlobalPrefix())));
    for (const std::string& object : objects) {
      Must(code->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "kernels.o")));
    }
    return CompiledKernels(std::move(code));
  }

  std::string LinkSharedObject(const std::vector<std::string>& objects) const override { return LinkObjects(objects); }

  std::string Version() const override { return LLVM_VERSION_STRING; }
};

}  // namespace

std::string EmitLlvmIr(const IRModule& lowered, const Target& target, const CodegenOptions& options) {
  return CompileGroups(lowered, target, options, "", Product::kOptimizedIr, 0).at(0);
}

std::string EmitAssembly(const IRModule& lowered, const Target& target, const CodegenOptions& options) {
  return CompileGroups(lowered, target, options, "", Product::kAssembly, 0).at(0);
}

}  // namespace deuteron::codegen

extern "C" const deuteron::codegen::MachineCodeGenerator* DEUTERON_MACHINE_CODE_GENERATOR();
extern "C" const deuteron::codegen::MachineCodeGenerator* DEUTERON_MACHINE_CODE_GENERATOR() {
  static const auto* generator = new deuteron::codegen::LlvmGenerator;
  return generator;
}
