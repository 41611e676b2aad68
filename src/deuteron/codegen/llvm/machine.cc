#include "deuteron/codegen/llvm/machine.h"

#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>

#include "deuteron/codegen/llvm/finish_loops.h"

namespace deuteron::codegen {
namespace {

void InitializeLlvmOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    // LLVM would end the process: what the program does without memory is asked for instead.
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) {
      *std::allocator<char>().allocate(std::numeric_limits<ptrdiff_t>::max()) = 0;
      std::abort();
    });
    // By name, not all that LLVM was built with: each is a few MiB of the library (cmake/DeuteronTargets.cmake).
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

/// Those of LLVM's passes that change what kernels become: what LLVM runs for C++ takes three times as long. Kernels
/// are functions that call no others but the bodies of their loops; loops have their tests behind them, variables of 64
/// bits that count up by one, and vectors are there already.
constexpr std::string_view kPasses =
    "function<eager-inv>("
    "simplifycfg,sroa<modify-cfg>,early-cse,instcombine<max-iterations=1;no-verify-fixpoint>,"
    "early-cse<memssa>,jump-threading,simplify-open,loop-mssa(licm<allowspeculation>),"
    "finish-loops,know-lengths,loop(loop-unroll-full),sroa<modify-cfg>,share-values,"
    // The loops of scalars that are left, and tails.
    "loop-vectorize,share-ends,"
    "finish-loops,loop-unroll<O2>,tidy-copies,div-rem-pairs,simplifycfg)";

/// Adds a pass of ours if it is called `name`; whether it is.
template <typename Own>
bool AddIf(const llvm::StringRef name, llvm::FunctionPassManager* passes) {
  if (name != Own::kName) return false;
  passes->addPass(Own());
  return true;
}

/// An option of LLVM that is a switch; as it was again at the end.
class Switched {
 public:
  Switched(const char* name, bool value)
      : option_(static_cast<llvm::cl::opt<bool>*>(llvm::cl::getRegisteredOptions().lookup(name))), before_(*option_) {
    option_->setValue(value);
  }
  ~Switched() { option_->setValue(before_); }
  Switched(const Switched&) = delete;
  Switched& operator=(const Switched&) = delete;

 private:
  llvm::cl::opt<bool>* option_;
  bool before_;
};

/// On x86 an address is a sum of two registers with a factor and a constant, so that the loops of kernels are as fast
/// without "loop strength reduction"; what it looks at alone takes a tenth of the time of code generation. Nor are
/// instructions scheduled: a tile's steps come in the order in which registers hold them, and LLVM would load all
/// scalars of a step first where their addresses are only known at run time, for which sums go to the stack.
bool AddPasses(llvm::TargetMachine* machine, llvm::legacy::PassManager* passes, llvm::raw_pwrite_stream* stream,
               llvm::CodeGenFileType type) {
  // LLVM knows of it for the process alone.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const bool is_x86 = machine->getTargetTriple().isX86();
  const Switched off("disable-lsr", is_x86);
  auto* generator = static_cast<llvm::LLVMTargetMachine*>(machine);
  llvm::TargetPassConfig* config = generator->createPassConfig(*passes);
  // What is verified is verified before the optimisations (CodegenOptions::verify).
  config->setDisableVerify(true);
  if (is_x86) config->disablePass(&llvm::MachineSchedulerID);
  auto* functions = new llvm::MachineModuleInfoWrapperPass(generator);
  passes->add(config);
  passes->add(functions);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (generator->addAsmPrinter(*passes, *stream, nullptr, type, functions->getMMI().getContext())) return false;
  passes->add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> MakeMachine(const Target& target, const CodegenOptions& options) {
  InitializeLlvmOnce();
  const std::string triple = target.triple.empty() ? llvm::sys::getProcessTriple() : target.triple;
  std::string error;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (llvm_target == nullptr) DEUTERON_THROW(UsageError) << "target triple " << triple << ": " << error;
  const std::string cpu = target.cpu == "native" ? llvm::sys::getHostCPUName().str() : target.cpu;
  std::string features;
  for (const std::string& feature : target.features) features += "+" + feature + ",";
  for (const std::string& feature : target.AbsentFeatures()) features += "-" + feature + ",";
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  target_options.UnsafeFPMath = false;
  // The level above differs in scheduling once more what registers hold, which CPUs that reorder do themselves.
  const bool reorders = llvm::Triple(triple).isX86();
  const auto level = options.opt_level >= 2 ? (reorders ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default)
                     : options.opt_level == 1 ? llvm::CodeGenOptLevel::Less
                                              : llvm::CodeGenOptLevel::None;
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm_target->createTargetMachine(triple, cpu, features, target_options, llvm::Reloc::PIC_, std::nullopt, level));
  if (machine == nullptr || !machine->getMCSubtargetInfo()->isCPUStringValid(cpu)) {
    DEUTERON_THROW(UsageError) << "the CPU " << cpu << " is not known for " << triple;
  }
  return machine;
}

void Optimize(llvm::Module* module, llvm::TargetMachine* machine, const CodegenOptions& options) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.LoopInterleaving = true;
  // Tiles come vectorised from TIR; packing scalars again would only undo their shape.
  tuning.SLPVectorization = false;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([&](const llvm::StringRef pass, const llvm::Any&) {
    llvm::OptPassGate& gate = module->getContext().getOptPassGate();
    return !gate.isEnabled() || gate.shouldRunPass(pass, "");
  });
  llvm::PassBuilder builder(machine, tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  if (options.opt_level == 0) {
    builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0).run(*module, modules);
    return;
  }
  builder.registerPipelineParsingCallback([](const llvm::StringRef name, llvm::FunctionPassManager& function_passes,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    return AddIf<SimplifyOpen>(name, &function_passes) || AddIf<FinishLoops>(name, &function_passes) ||
           AddIf<KnowLengths>(name, &function_passes) || AddIf<ShareValues>(name, &function_passes) ||
           AddIf<ShareEnds>(name, &function_passes) || AddIf<TidyCopies>(name, &function_passes);
  });
  llvm::ModulePassManager passes;
  llvm::Error error = builder.parsePassPipeline(passes, kPasses);
  DEUTERON_CHECK(!error) << llvm::toString(std::move(error));
  passes.run(*module, modules);
}

std::string EmitFile(llvm::Module* module, llvm::TargetMachine* machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  DEUTERON_CHECK(AddPasses(machine, &passes, &stream, type)) << "LLVM cannot emit this file type";
  passes.run(*module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace deuteron::codegen
