#include "deuteron/codegen/llvm/machine.h"

#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>

#include "deuteron/codegen/llvm/constant_operands.h"
#include "deuteron/codegen/llvm/finish_loops.h"
#include "deuteron/target/cpu_table.h"

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

/// What loops add to again and again in memory LLVM keeps in registers, for which it compares all that a loop accesses
/// with each other. Sums that registers have room for are in loops of few accesses; tiles have theirs there already.
llvm::LICMOptions LicmOptions() {
  constexpr unsigned kMostAccesses = 40;
  llvm::LICMOptions options;
  options.MssaNoAccForPromotionCap = kMostAccesses;
  return options;
}

/// Those of LLVM's passes that change what kernels become: what LLVM runs for C++ takes three times as long. Kernels
/// are functions that call no others but the bodies of their loops; loops have their tests behind them, variables of 64
/// bits that count up by one, and vectors are there already.
///
/// They are named here by their classes, not by a text that LLVM's PassBuilder reads: that one refers to all passes
/// that there are, which are a third of the library.
llvm::FunctionPassManager MakePasses(const llvm::TargetMachine& machine) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::JumpThreadingPass());
  passes.addPass(SimplifyOpen());
  llvm::LoopPassManager invariants;
  invariants.addPass(llvm::LICMPass(LicmOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(invariants), /*UseMemorySSA=*/true));
  passes.addPass(FinishLoops());
  passes.addPass(KnowLengths());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(ShareValues());
  // The loops of scalars that are left, and tails.
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(ShareEnds());
  passes.addPass(FinishLoops());
  passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions().setOptLevel(2)));
  passes.addPass(TidyCopies());
  passes.addPass(llvm::DivRemPairsPass());
  passes.addPass(llvm::SimplifyCFGPass());
  if (HasConstantOperands(machine)) passes.addPass(ConstantOperands());
  return passes;
}

/// Those that take less time than they save in what comes after them.
llvm::FunctionPassManager MakeFewPasses() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass());
  return passes;
}

/// Code generation would load what does not change wherever a register is free, and so before it is wanted.
void LeaveLoadsInOrder(llvm::Module* module) {
  for (llvm::Function& function : *module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        if (llvm::isa<llvm::LoadInst>(instruction)) {
          instruction.setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
        }
      }
    }
  }
}

llvm::AAManager AliasAnalyses() {
  llvm::AAManager analyses;
  analyses.registerFunctionAnalysis<llvm::BasicAA>();
  analyses.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
  analyses.registerFunctionAnalysis<llvm::TypeBasedAA>();
  return analyses;
}

template <typename... Analyses>
void Register(llvm::FunctionAnalysisManager* functions) {
  (functions->registerPass([] { return Analyses(); }), ...);
}

/// Makes known to `functions` what the passes ask for.
void RegisterAnalyses(llvm::TargetMachine* machine, llvm::FunctionAnalysisManager* functions) {
  functions->registerPass([] { return AliasAnalyses(); });
  functions->registerPass([&] { return machine->getTargetIRAnalysis(); });
  Register<llvm::AssumptionAnalysis, llvm::BasicAA, llvm::BlockFrequencyAnalysis, llvm::BranchProbabilityAnalysis,
           llvm::DemandedBitsAnalysis, llvm::DominatorTreeAnalysis, llvm::LazyValueAnalysis, llvm::LoopAccessAnalysis,
           llvm::LoopAnalysis, llvm::MemoryDependenceAnalysis, llvm::MemorySSAAnalysis,
           llvm::OptimizationRemarkEmitterAnalysis, llvm::PostDominatorTreeAnalysis, llvm::ScalarEvolutionAnalysis,
           llvm::ScopedNoAliasAA, llvm::ShouldRunExtraVectorPasses, llvm::TargetLibraryAnalysis, llvm::TypeBasedAA>(
      functions);
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
  // Its features are those of the target alone: LLVM's CPU of the target's name has more of them, which the machine
  // that runs this (often a virtual one) may lack. That name only says what to prefer (CompileGroup).
  const std::string cpu(PlainestCpu(ArchitectureOf(target.triple)));
  std::string features;
  for (const std::string& feature : target.features) features += "+" + feature + ",";
  for (const std::string& feature : target.AbsentFeatures()) features += "-" + feature + ",";
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  target_options.UnsafeFPMath = false;
  // The level above differs in scheduling once more what registers hold, which CPUs that reorder do themselves.
  const bool reorders = llvm::Triple(triple).isX86();
  const auto level = options.opt_level < 2 ? llvm::CodeGenOptLevel::None
                     : reorders            ? llvm::CodeGenOptLevel::Less
                                           : llvm::CodeGenOptLevel::Default;
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm_target->createTargetMachine(triple, cpu, features, target_options, llvm::Reloc::PIC_, std::nullopt, level));
  DEUTERON_CHECK(machine != nullptr) << "LLVM makes no machine for " << triple;
  DEUTERON_CHECK(machine->getMCSubtargetInfo()->isCPUStringValid(target.CpuOfTable()))
      << "LLVM does not know the CPU " << target.CpuOfTable() << " of " << triple;
  return machine;
}

void Optimize(llvm::Module* module, llvm::TargetMachine* machine, const CodegenOptions& options) {
  if (options.opt_level == 0) return;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([&](const llvm::StringRef pass, const llvm::Any&) {
    llvm::OptPassGate& gate = module->getContext().getOptPassGate();
    return !gate.isEnabled() || gate.shouldRunPass(pass, "");
  });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;
  RegisterAnalyses(machine, &functions);
  loops.registerPass([&] { return llvm::PassInstrumentationAnalysis(&callbacks); });
  functions.registerPass([&] { return llvm::PassInstrumentationAnalysis(&callbacks); });
  modules.registerPass([&] { return llvm::PassInstrumentationAnalysis(&callbacks); });
  loops.registerPass([&] { return llvm::FunctionAnalysisManagerLoopProxy(functions); });
  loops.registerPass([] { return llvm::ShouldRunExtraSimpleLoopUnswitch(); });
  functions.registerPass([&] { return llvm::LoopAnalysisManagerFunctionProxy(loops); });
  functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules); });
  modules.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });
  llvm::ModulePassManager passes;
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(options.opt_level == 1 ? MakeFewPasses() : MakePasses(*machine),
                                              /*EagerlyInvalidate=*/true));
  passes.run(*module, modules);
  LeaveLoadsInOrder(module);
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
