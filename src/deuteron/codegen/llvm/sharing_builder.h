/// \file
/// A builder of LLVM IR that computes integers and addresses once a basic block.
///
/// The copies of an unrolled loop say the same of places again and again: of 105,000 instructions of a MobileNetV2's
/// kernels four in five were such. LLVM's passes find that out one after the other, which takes longer than all else
/// they do.
#pragma once

#include <array>
#include <unordered_map>

#include "deuteron/codegen/llvm/llvm.h"

namespace deuteron::codegen {

/// The instructions of one basic block that a later one like them may stand for.
class SharedInstructions {
 public:
  struct Key {
    /// The operation, its flags, and the predicate of a comparison.
    uint64_t operation = 0;
    const llvm::Type* type = nullptr;
    std::array<const llvm::Value*, 3> operands{};
    bool operator==(const Key& other) const {
      return operation == other.operation && type == other.type && operands == other.operands;
    }
  };

  /// That of `block`; null if there is none yet.
  llvm::Value* Find(const llvm::BasicBlock* block, const Key& key);
  /// Notes an instruction at the end of its block, if it is one to share.
  void Add(llvm::Instruction* instruction);

 private:
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  void AddLast();

  /// Flags are set once an instruction is in its block: it is looked at when the next one comes.
  llvm::Instruction* last_ = nullptr;
  const llvm::BasicBlock* block_ = nullptr;
  std::unordered_map<Key, llvm::Instruction*, Hash> known_;
};

/// LLVM's folding of constants, sums with zero, and what is shared.
class SharingFolder final : public llvm::IRBuilderFolder {
 public:
  SharingFolder() = default;
  SharingFolder(const llvm::IRBuilderBase* builder, SharedInstructions* shared) : builder_(builder), shared_(shared) {}

 private:
  using Value = llvm::Value;
  using Binary = llvm::Instruction::BinaryOps;
  template <typename T>
  using ArrayRef = llvm::ArrayRef<T>;

  Value* FoldBinOp(Binary op, Value* a, Value* b) const override;
  Value* FoldExactBinOp(Binary op, Value* a, Value* b, bool exact) const override;
  Value* FoldNoWrapBinOp(Binary op, Value* a, Value* b, bool nuw, bool nsw) const override;
  Value* FoldCmp(llvm::CmpInst::Predicate predicate, Value* a, Value* b) const override;
  Value* FoldGEP(llvm::Type* type, Value* pointer, ArrayRef<Value*> indices, llvm::GEPNoWrapFlags flags) const override;
  Value* FoldSelect(Value* condition, Value* a, Value* b) const override;
  Value* FoldCast(llvm::Instruction::CastOps op, Value* value, llvm::Type* type) const override;
  Value* FoldBinOpFMF(Binary op, Value* a, Value* b, llvm::FastMathFlags flags) const override {
    return constants_.FoldBinOpFMF(op, a, b, flags);
  }
  Value* FoldUnOpFMF(llvm::Instruction::UnaryOps op, Value* value, llvm::FastMathFlags flags) const override {
    return constants_.FoldUnOpFMF(op, value, flags);
  }
  Value* FoldExtractValue(Value* aggregate, ArrayRef<unsigned> indices) const override {
    return constants_.FoldExtractValue(aggregate, indices);
  }
  Value* FoldInsertValue(Value* aggregate, Value* value, ArrayRef<unsigned> indices) const override {
    return constants_.FoldInsertValue(aggregate, value, indices);
  }
  Value* FoldExtractElement(Value* vector, Value* index) const override {
    return constants_.FoldExtractElement(vector, index);
  }
  Value* FoldInsertElement(Value* vector, Value* element, Value* index) const override {
    return constants_.FoldInsertElement(vector, element, index);
  }
  Value* FoldShuffleVector(Value* a, Value* b, ArrayRef<int> mask) const override {
    return constants_.FoldShuffleVector(a, b, mask);
  }
  Value* FoldBinaryIntrinsic(llvm::Intrinsic::ID id, Value* a, Value* b, llvm::Type* type,
                             llvm::Instruction* flags) const override {
    return constants_.FoldBinaryIntrinsic(id, a, b, type, flags);
  }
  Value* CreatePointerCast(llvm::Constant* constant, llvm::Type* type) const override {
    return constants_.CreatePointerCast(constant, type);
  }
  Value* CreatePointerBitCastOrAddrSpaceCast(llvm::Constant* constant, llvm::Type* type) const override {
    return constants_.CreatePointerBitCastOrAddrSpaceCast(constant, type);
  }

  /// What is known where the builder stands, if that is the end of a block.
  Value* Known(const SharedInstructions::Key& key) const;

  llvm::ConstantFolder constants_;
  const llvm::IRBuilderBase* builder_ = nullptr;
  SharedInstructions* shared_ = nullptr;
};

class SharingInserter final : public llvm::IRBuilderDefaultInserter {
 public:
  SharingInserter() = default;
  explicit SharingInserter(SharedInstructions* shared) : shared_(shared) {}
  void InsertHelper(llvm::Instruction* instruction, const llvm::Twine& name,
                    llvm::BasicBlock::iterator point) const override;

 private:
  SharedInstructions* shared_ = nullptr;
};

/// Owns what it shares. It must stand at the ends of blocks, and what it made must not be changed.
class SharingBuilder : private SharedInstructions, public llvm::IRBuilder<SharingFolder, SharingInserter> {
 public:
  explicit SharingBuilder(llvm::LLVMContext& context)
      : llvm::IRBuilder<SharingFolder, SharingInserter>(context, SharingFolder(this, this), SharingInserter(this)) {}
  SharingBuilder(const SharingBuilder&) = delete;
  SharingBuilder& operator=(const SharingBuilder&) = delete;
};

}  // namespace deuteron::codegen
