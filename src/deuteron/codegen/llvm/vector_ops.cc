#include "deuteron/codegen/llvm/vector_ops.h"

namespace deuteron::codegen {

using llvm::Value;

llvm::Type* VectorOps::WithLanes(llvm::Type* element, Value* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr ? element : llvm::FixedVectorType::get(element, vector->getNumElements());
}

Value* VectorOps::Constant(Value* like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

llvm::Type* VectorOps::IntType(Value* like) {
  return WithLanes(b_.getIntNTy(like->getType()->getScalarSizeInBits()), like);
}

Value* VectorOps::Int(Value* like, int64_t value) {
  return llvm::ConstantInt::get(IntType(like), static_cast<uint64_t>(value), true);
}

Value* VectorOps::Fma(Value* a, Value* b, Value* c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, c});
}

Value* VectorOps::Polynomial(Value* x, std::span<const double> coefficients) {
  Value* result = Constant(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) result = Fma(result, x, Constant(x, coefficients[i]));
  return result;
}

Value* VectorOps::CopySign(Value* magnitude, Value* sign) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

/// Comparisons are written so that a NaN fails them and x is kept.
Value* VectorOps::AtMost(Value* x, double high) {
  return b_.CreateSelect(b_.CreateFCmpOLT(Constant(x, high), x), Constant(x, high), x);
}

Value* VectorOps::AtLeast(Value* x, double low) {
  return b_.CreateSelect(b_.CreateFCmpOGT(Constant(x, low), x), Constant(x, low), x);
}

}  // namespace deuteron::codegen
