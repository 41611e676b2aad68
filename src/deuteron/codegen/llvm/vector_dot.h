/// \file
/// The intrinsics that add up products of what 32-bit elements hold (tir/intrinsics.cc: dot_i16x2, dot_u8i8x4,
/// dot_i8x4, dot_u8i7x4, dot_bf16x2) as LLVM IR for a target.
#pragma once

#include <cstdint>
#include <string_view>

#include "deuteron/codegen/llvm/vector_ops.h"
#include "deuteron/target/target.h"

namespace deuteron::codegen {

class VectorDot {
 public:
  VectorDot(llvm::IRBuilderBase* builder, const Target& target) : b_(*builder), target_(target) {}

  /// sum + dot(x, y), for the intrinsic of that name: one instruction where the target has it. `sum` may be null: 0.
  llvm::Value* Emit(std::string_view name, llvm::Value* sum, llvm::Value* x, llvm::Value* y);

 private:
  llvm::Value* OfIntegers(llvm::Value* x, llvm::Value* y);
  /// `is_signed`: the bytes of x are int8.
  llvm::Value* OfBytes(llvm::Value* sum, llvm::Value* x, llvm::Value* y, bool is_signed);
  /// Of the bytes from that bit on of each element.
  llvm::Value* ProductOfBytes(llvm::Value* x, llvm::Value* y, uint64_t shift, bool is_signed);
  /// Of bytes whose products 16 bits hold, added up by pairs; sums beyond are brought to the nearest number that they
  /// do.
  llvm::Value* OfSmallBytes(llvm::Value* sum, llvm::Value* x, llvm::Value* y);
  llvm::Value* OfFloats(llvm::Value* sum, llvm::Value* x, llvm::Value* y);

  llvm::IRBuilderBase& b_;
  const Target& target_;
};

}  // namespace deuteron::codegen
