#include "deuteron/codegen/llvm/sharing_builder.h"

#include <functional>
#include <optional>

namespace deuteron::codegen {
namespace {

using Key = SharedInstructions::Key;

constexpr uint64_t kNoUnsignedWrap = 1, kNoSignedWrap = 2, kExact = 4;

uint64_t Operation(unsigned opcode, uint64_t detail = 0) { return opcode | detail << 8; }

Key OfBinary(unsigned opcode, uint64_t flags, const llvm::Value* a, const llvm::Value* b) {
  return {Operation(opcode, flags), a->getType(), {a, b}};
}
Key OfCompare(unsigned predicate, const llvm::Value* a, const llvm::Value* b) {
  return {Operation(llvm::Instruction::ICmp, predicate), a->getType(), {a, b}};
}
Key OfCast(unsigned opcode, const llvm::Value* value, const llvm::Type* type) {
  return {Operation(opcode), type, {value}};
}
Key OfSelect(const llvm::Value* condition, const llvm::Value* a, const llvm::Value* b) {
  return {Operation(llvm::Instruction::Select), a->getType(), {condition, a, b}};
}
Key OfAddress(llvm::GEPNoWrapFlags flags, const llvm::Type* type, const llvm::Value* pointer,
              const llvm::Value* index) {
  return {Operation(llvm::Instruction::GetElementPtr, flags.getRaw()), type, {pointer, index}};
}

bool IsZero(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  return constant != nullptr && constant->isNullValue();
}

/// What the result is if it is one of the operands; else null.
llvm::Value* OperandOf(llvm::Instruction::BinaryOps op, llvm::Value* a, llvm::Value* b) {
  switch (op) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
      if (IsZero(a)) return b;
      [[fallthrough]];
    case llvm::Instruction::Sub:
    case llvm::Instruction::Shl:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      return IsZero(b) ? a : nullptr;
    default:
      return nullptr;
  }
}

bool AreIntegers(const llvm::Value* value) { return value->getType()->isIntOrIntVectorTy(); }

/// Nothing if an instruction is not shared: those of floats are as seldom repeated as they are expensive to compare.
std::optional<Key> KeyOf(const llvm::Instruction* instruction) {
  const auto operand = [&](unsigned i) { return instruction->getOperand(i); };
  const unsigned opcode = instruction->getOpcode();
  if (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(instruction)) {
    if (gep->getNumIndices() != 1) return std::nullopt;
    return OfAddress(gep->getNoWrapFlags(), gep->getSourceElementType(), operand(0), operand(1));
  }
  if (!AreIntegers(instruction)) return std::nullopt;
  if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(instruction)) {
    return OfCompare(compare->getPredicate(), operand(0), operand(1));
  }
  if (llvm::isa<llvm::BinaryOperator>(instruction)) {
    uint64_t flags = 0;
    if (llvm::isa<llvm::OverflowingBinaryOperator>(instruction)) {
      flags = (instruction->hasNoUnsignedWrap() ? kNoUnsignedWrap : 0) |
              (instruction->hasNoSignedWrap() ? kNoSignedWrap : 0);
    } else if (llvm::isa<llvm::PossiblyExactOperator>(instruction)) {
      flags = instruction->isExact() ? kExact : 0;
    }
    return OfBinary(opcode, flags, operand(0), operand(1));
  }
  if (opcode == llvm::Instruction::SExt || opcode == llvm::Instruction::ZExt || opcode == llvm::Instruction::Trunc) {
    return OfCast(opcode, operand(0), instruction->getType());
  }
  if (opcode == llvm::Instruction::Select) return OfSelect(operand(0), operand(1), operand(2));
  return std::nullopt;
}

}  // namespace

size_t SharedInstructions::Hash::operator()(const Key& key) const {
  size_t hash = std::hash<uint64_t>()(key.operation) + reinterpret_cast<size_t>(key.type);
  for (const llvm::Value* operand : key.operands) {
    hash = (hash ^ reinterpret_cast<size_t>(operand) >> 4) * 0x9E3779B97F4A7C15U;
  }
  return hash ^ hash >> 32;
}

llvm::Value* SharedInstructions::Find(const llvm::BasicBlock* block, const Key& key) {
  AddLast();
  if (block != block_) return nullptr;
  const auto known = known_.find(key);
  return known == known_.end() ? nullptr : known->second;
}

void SharedInstructions::Add(llvm::Instruction* instruction) {
  AddLast();
  last_ = instruction;
}

void SharedInstructions::AddLast() {
  if (last_ == nullptr) return;
  if (last_->getParent() != block_) {
    block_ = last_->getParent();
    known_.clear();
  }
  if (const std::optional<Key> key = KeyOf(last_)) known_.emplace(*key, last_);
  last_ = nullptr;
}

llvm::Value* SharingFolder::Known(const Key& key) const {
  const llvm::BasicBlock* block = builder_->GetInsertBlock();
  if (block == nullptr || builder_->GetInsertPoint() != block->end()) return nullptr;
  return shared_->Find(block, key);
}

llvm::Value* SharingFolder::FoldBinOp(Binary op, Value* a, Value* b) const {
  if (Value* folded = constants_.FoldBinOp(op, a, b)) return folded;
  if (Value* operand = OperandOf(op, a, b)) return operand;
  return Known(OfBinary(op, 0, a, b));
}
llvm::Value* SharingFolder::FoldExactBinOp(Binary op, Value* a, Value* b, bool exact) const {
  if (Value* folded = constants_.FoldExactBinOp(op, a, b, exact)) return folded;
  if (Value* operand = OperandOf(op, a, b)) return operand;
  return Known(OfBinary(op, exact ? kExact : 0, a, b));
}
llvm::Value* SharingFolder::FoldNoWrapBinOp(Binary op, Value* a, Value* b, bool nuw, bool nsw) const {
  if (Value* folded = constants_.FoldNoWrapBinOp(op, a, b, nuw, nsw)) return folded;
  if (Value* operand = OperandOf(op, a, b)) return operand;
  return Known(OfBinary(op, (nuw ? kNoUnsignedWrap : 0) | (nsw ? kNoSignedWrap : 0), a, b));
}
llvm::Value* SharingFolder::FoldCmp(llvm::CmpInst::Predicate predicate, Value* a, Value* b) const {
  if (Value* folded = constants_.FoldCmp(predicate, a, b)) return folded;
  return Known(OfCompare(predicate, a, b));
}
llvm::Value* SharingFolder::FoldGEP(llvm::Type* type, Value* pointer, ArrayRef<Value*> indices,
                                    llvm::GEPNoWrapFlags flags) const {
  if (Value* folded = constants_.FoldGEP(type, pointer, indices, flags)) return folded;
  if (indices.size() != 1) return nullptr;
  if (IsZero(indices[0]) && !indices[0]->getType()->isVectorTy()) return pointer;
  return Known(OfAddress(flags, type, pointer, indices[0]));
}
llvm::Value* SharingFolder::FoldSelect(Value* condition, Value* a, Value* b) const {
  if (Value* folded = constants_.FoldSelect(condition, a, b)) return folded;
  return Known(OfSelect(condition, a, b));
}
llvm::Value* SharingFolder::FoldCast(llvm::Instruction::CastOps op, Value* value, llvm::Type* type) const {
  if (Value* folded = constants_.FoldCast(op, value, type)) return folded;
  return Known(OfCast(op, value, type));
}

void SharingInserter::InsertHelper(llvm::Instruction* instruction, const llvm::Twine& name,
                                   llvm::BasicBlock::iterator point) const {
  llvm::IRBuilderDefaultInserter::InsertHelper(instruction, name, point);
  const llvm::BasicBlock* block = instruction->getParent();
  if (block != nullptr && &block->back() == instruction) shared_->Add(instruction);
}

}  // namespace deuteron::codegen
