#include "deuteron/codegen/llvm/constant_operands.h"

#include <unordered_map>
#include <unordered_set>

namespace deuteron::codegen {
namespace {

/// Constants of a block that stay in registers: half of the sixteen, as sums and intermediate results need some as well
/// (measured on AMD Zen 3: each function is as fast with 6 to 10, those of more constants up to a fifth slower with
/// 13).
constexpr size_t kInRegisters = 8;

/// A splat of numbers as wide as a vector register.
bool IsSplat(const llvm::Use& use) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(use->getType());
  const auto* constant = llvm::dyn_cast<llvm::Constant>(use.get());
  if (type == nullptr || constant == nullptr || !type->getElementType()->isFloatingPointTy()) return false;
  const uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  return (bits == 128 || bits == 256) && constant->getSplatValue() != nullptr && !constant->isNullValue();
}

/// The operand that may be read from memory, if it is a splat; null if not. Of a multiply-add that is what is added:
/// were it a factor, the sum would take the register of the other one, which is needed again.
llvm::Use* OperandInMemory(llvm::Instruction* instruction) {
  unsigned operand = 1;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction)) {
    if (call->getIntrinsicID() != llvm::Intrinsic::fmuladd) return nullptr;
    operand = 2;
  } else if (instruction->getOpcode() != llvm::Instruction::FAdd &&
             instruction->getOpcode() != llvm::Instruction::FSub &&
             instruction->getOpcode() != llvm::Instruction::FMul) {
    return nullptr;
  }
  llvm::Use* use = &instruction->getOperandUse(operand);
  return IsSplat(*use) ? use : nullptr;
}

/// Where it lies, the same for all kernels of a module. No constant for LLVM, which would read it once for all
/// operands.
llvm::GlobalVariable* Place(llvm::Module* module, llvm::Constant* vector) {
  for (llvm::GlobalVariable& variable : module->globals()) {
    if (variable.hasInitializer() && variable.getInitializer() == vector && variable.hasInternalLinkage() &&
        !variable.isConstant()) {
      return &variable;
    }
  }
  auto* variable = new llvm::GlobalVariable(*module, vector->getType(), /*isConstant=*/false,
                                            llvm::GlobalValue::InternalLinkage, vector, "dt_coefficient");
  variable->setAlignment(llvm::Align(vector->getType()->getPrimitiveSizeInBits().getFixedValue() / 8));
  return variable;
}

/// Makes loads of the constants of a block that are more than those for which there are registers.
bool MoveConstants(llvm::BasicBlock* block) {
  std::unordered_set<const llvm::Value*> constants;
  for (llvm::Instruction& instruction : *block) {
    for (const llvm::Use& use : instruction.operands()) {
      if (IsSplat(use)) constants.insert(use.get());
    }
  }
  if (constants.size() <= kInRegisters) return false;
  const size_t too_many = constants.size() - kInRegisters;
  std::unordered_map<const llvm::Value*, llvm::GlobalVariable*> moved;
  for (llvm::Instruction& instruction : *block) {
    llvm::Use* use = OperandInMemory(&instruction);
    if (use == nullptr) continue;
    auto* constant = llvm::cast<llvm::Constant>(use->get());
    auto found = moved.find(constant);
    if (found == moved.end()) {
      if (moved.size() == too_many) continue;
      found = moved.emplace(constant, Place(block->getModule(), constant)).first;
    }
    llvm::GlobalVariable* place = found->second;
    use->set(new llvm::LoadInst(place->getValueType(), place, "", /*isVolatile=*/false, *place->getAlign(),
                                instruction.getIterator()));
  }
  return !moved.empty();
}

}  // namespace

llvm::PreservedAnalyses ConstantOperands::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::BasicBlock& block : function) changed |= MoveConstants(&block);
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

bool HasConstantOperands(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo* features = machine.getMCSubtargetInfo();
  return machine.getTargetTriple().isX86() && features->checkFeatures("+avx2") && !features->checkFeatures("+avx512f");
}

}  // namespace deuteron::codegen
