#include "deuteron/codegen/llvm/vector_ops.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "deuteron/codegen/llvm/vector_tables.h"

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

/// Adding 1.5 * 2^23 leaves the rounded integer in the low bits of the mantissa.
VectorOps::Rounded VectorOps::Round(Value* x, double scale, int bias) {
  Value* magic = Constant(x, 12582912.0 + bias);
  Value* shifted = Fma(x, Constant(x, scale), magic);
  return {shifted, b_.CreateFSub(shifted, magic)};
}

/// ln 2 in two parts.
Value* VectorOps::WithoutLn2(Value* x, Value* n, double sign) {
  Value* r = Fma(n, Constant(x, -0.693359375 * sign), x);
  return Fma(n, Constant(x, 2.12194440e-4 * sign), r);
}

Value* VectorOps::ExpOfNegative(Value* r) {
  std::array<double, std::size(kExp)> alternating;
  for (size_t i = 0; i < alternating.size(); ++i) alternating[i] = i % 2 == 0 ? kExp[i] : -kExp[i];
  return Fma(Fma(Polynomial(r, alternating), r, Constant(r, -1.0)), r, Constant(r, 1.0));
}

Value* VectorOps::CopySign(Value* magnitude, Value* sign) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

/// Comparisons are written so that a NaN fails them and x is kept.
Value* VectorOps::AtMost(Value* x, Value* high) { return b_.CreateSelect(b_.CreateFCmpOLT(high, x), high, x); }

Value* VectorOps::AtLeast(Value* x, Value* low) { return b_.CreateSelect(b_.CreateFCmpOGT(low, x), low, x); }

Value* VectorOps::IsOdd(Value* count) { return b_.CreateICmpNE(b_.CreateAnd(count, Int(count, 1)), Int(count, 0)); }

Value* VectorOps::SineOf(const Angle& angle, int64_t quadrant) {
  Value* count = b_.CreateAdd(angle.count, Int(angle.count, quadrant));
  Value* result = b_.CreateSelect(IsOdd(count), angle.cosine, angle.sine);
  const unsigned bits = count->getType()->getScalarSizeInBits();
  Value* sign = b_.CreateShl(b_.CreateAnd(count, Int(count, 2)), Int(count, bits - 2));
  return b_.CreateBitCast(b_.CreateXor(Bits(result), sign), result->getType());
}

Value* VectorOps::TangentOf(const Angle& angle) {
  Value* is_odd = IsOdd(angle.count);
  Value* numerator = b_.CreateSelect(is_odd, angle.cosine, angle.sine);
  Value* denominator = b_.CreateSelect(is_odd, b_.CreateFNeg(angle.sine), angle.cosine);
  return b_.CreateFDiv(numerator, denominator);
}

unsigned LanesWith(const Target& target, const char* wide, const char* narrow) {
  if (target.machine.vector_bits >= 512 && target.HasFeature("avx512f") && target.HasFeature(wide)) return 16;
  const bool is_short = target.HasFeature(wide) && target.HasFeature("avx512vl");
  return is_short || target.HasFeature(narrow) ? 8 : 0;
}

Value* WithLanesAt(llvm::IRBuilderBase* builder, Value* whole, Value* part, unsigned begin) {
  const auto lanes = [](const Value* vector) {
    return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  };
  const unsigned count = lanes(whole), end = std::min(begin + lanes(part), count);
  // As wide as the whole, at its place.
  std::vector<int> place(count, llvm::PoisonMaskElem), join(count);
  std::iota(place.begin() + begin, place.begin() + end, 0);
  std::iota(join.begin(), join.end(), 0);
  std::iota(join.begin() + begin, join.begin() + end, static_cast<int>(count + begin));
  Value* placed = builder->CreateShuffleVector(part, place);
  return llvm::isa<llvm::PoisonValue>(whole) ? placed : builder->CreateShuffleVector(whole, placed, join);
}

Value* InPieces(llvm::IRBuilderBase* builder, const std::vector<Value*>& vectors, unsigned lanes,
                const std::function<Value*(const std::vector<Value*>&)>& compute) {
  llvm::IRBuilderBase& b = *builder;
  const auto of_all = [&](const auto& change) {
    std::vector<Value*> changed;
    for (Value* vector : vectors) changed.push_back(change(vector));
    return changed;
  };
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vectors[0]->getType());
  if (type == nullptr) {
    const auto widen = [&](Value* scalar) {
      Value* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(scalar->getType(), lanes));
      return b.CreateInsertElement(vector, scalar, uint64_t{0});
    };
    return b.CreateExtractElement(compute(of_all(widen)), uint64_t{0});
  }
  const unsigned count = type->getNumElements();
  if (count == lanes) return compute(vectors);
  Value* result = nullptr;
  for (unsigned begin = 0; begin < count; begin += lanes) {
    const unsigned taken = std::min(lanes, count - begin);
    const auto take = llvm::createSequentialMask(begin, taken, lanes - taken);
    Value* piece = compute(of_all([&](Value* vector) { return b.CreateShuffleVector(vector, take); }));
    if (result == nullptr)
      result = llvm::PoisonValue::get(
          llvm::FixedVectorType::get(llvm::cast<llvm::VectorType>(piece->getType())->getElementType(), count));
    result = WithLanesAt(&b, result, piece, begin);
  }
  return result;
}

}  // namespace deuteron::codegen
