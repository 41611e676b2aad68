#include "deuteron/codegen/llvm/vector_math.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace deuteron::codegen {
namespace {

using llvm::Value;

template <typename Math>
using Member = Value* (Math::*)(Value*);

/// One function, three ways.
struct Row {
  std::string_view name;
  Member<FloatMath> of_float;
  Member<Avx512Math> of_wide_float;
  Member<DoubleMath> of_double;
};

constexpr Row kRows[] = {
    {"exp", &FloatMath::Exp, &Avx512Math::Exp, &DoubleMath::Exp},
    {"exp2", &FloatMath::Exp2, &Avx512Math::Exp2, &DoubleMath::Exp2},
    {"log", &FloatMath::Log, &Avx512Math::Log, &DoubleMath::Log},
    {"log2", &FloatMath::Log2, &Avx512Math::Log2, &DoubleMath::Log2},
    {"log10", &FloatMath::Log10, &Avx512Math::Log10, &DoubleMath::Log10},
    {"tanh", &FloatMath::Tanh, &Avx512Math::Tanh, &DoubleMath::Tanh},
    {"sigmoid", &FloatMath::Sigmoid, &Avx512Math::Sigmoid, &DoubleMath::Sigmoid},
    {"erf", &FloatMath::Erf, &Avx512Math::Erf, &DoubleMath::Erf},
    {"sin", &FloatMath::Sin, &Avx512Math::Sin, &DoubleMath::Sin},
    {"cos", &FloatMath::Cos, &Avx512Math::Cos, &DoubleMath::Cos},
    {"rsqrt", &FloatMath::Rsqrt, &Avx512Math::Rsqrt, &DoubleMath::Rsqrt},
};

bool IsDouble(Value* x) { return x->getType()->getScalarType()->isDoubleTy(); }

}  // namespace

VectorMath::VectorMath(llvm::IRBuilder<>* builder, const Target& target)
    : b_(*builder),
      avx512_(target.HasFeature("avx512f") && target.machine.vector_bits >= 512),
      pair_lanes_(avx512_ && target.HasFeature("avx512bw") ? 16
                  : target.HasFeature("avx2")              ? 8
                                                           : 0),
      fused_(target.HasFeature("fma") || target.HasFeature("neon")),
      float_(builder),
      double_(builder),
      wide_(builder) {}

VectorMath::Unary VectorMath::Find(std::string_view name, Value* x) {
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
  if (row == std::end(kRows)) return nullptr;
  if (IsDouble(x)) return [this, row](Value* v) { return (double_.*row->of_double)(v); };
  if (!avx512_) return [this, row](Value* v) { return (float_.*row->of_float)(v); };
  return [this, row](Value* v) {
    return InPieces(v, v, Avx512Math::kLanes, [&](Value* piece, Value*) { return (wide_.*row->of_wide_float)(piece); });
  };
}

double VectorMath::TurnLimit(Value* x) const {
  if (IsDouble(x)) return DoubleMath::kTurnLimit;
  return avx512_ ? Avx512Math::kTurnLimit : FloatMath::kTurnLimit;
}

bool VectorMath::HasPow(Value* x) const { return !IsDouble(x) || fused_; }

Value* VectorMath::Pow(Value* x, Value* y) {
  if (IsDouble(x)) return double_.Pow(x, y);
  if (!avx512_) return float_.Pow(x, y);
  return InPieces(x, y, Avx512Math::kLanes, [this](Value* a, Value* b) { return wide_.Pow(a, b); });
}

Value* VectorMath::DotOfPairs(Value* x, Value* y) {
  if (pair_lanes_ == 0 || !x->getType()->isVectorTy()) {
    const auto half = [&](Value* pair, bool high) { return b_.CreateAShr(high ? pair : b_.CreateShl(pair, 16), 16); };
    return b_.CreateAdd(b_.CreateMul(half(x, false), half(y, false)), b_.CreateMul(half(x, true), half(y, true)));
  }
  return InPieces(x, y, pair_lanes_, [this](Value* a, Value* b) {
    llvm::Type* pairs = llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * pair_lanes_);
    const auto id = pair_lanes_ == 16 ? llvm::Intrinsic::x86_avx512_pmaddw_d_512 : llvm::Intrinsic::x86_avx2_pmadd_wd;
    return b_.CreateIntrinsic(id, {}, {b_.CreateBitCast(a, pairs), b_.CreateBitCast(b, pairs)});
  });
}

Value* VectorMath::InPieces(Value* x, Value* y, unsigned lanes, const std::function<Value*(Value*, Value*)>& compute) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (type == nullptr) {
    const auto widen = [&](Value* scalar) {
      Value* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(scalar->getType(), lanes));
      return b_.CreateInsertElement(vector, scalar, uint64_t{0});
    };
    return b_.CreateExtractElement(compute(widen(x), widen(y)), uint64_t{0});
  }
  const unsigned count = type->getNumElements();
  if (count == lanes) return compute(x, y);
  Value* result = llvm::PoisonValue::get(x->getType());
  for (unsigned begin = 0; begin < count; begin += lanes) {
    const unsigned end = std::min(begin + lanes, count);
    std::vector<int> take(lanes, llvm::PoisonMaskElem);
    std::iota(take.begin(), take.begin() + (end - begin), static_cast<int>(begin));
    Value* piece = compute(b_.CreateShuffleVector(x, take), b_.CreateShuffleVector(y, take));
    // As wide as the result, at its place.
    std::vector<int> place(count, llvm::PoisonMaskElem);
    std::iota(place.begin() + begin, place.begin() + end, 0);
    piece = b_.CreateShuffleVector(piece, place);
    std::vector<int> join(count);
    std::iota(join.begin(), join.end(), 0);
    std::iota(join.begin() + begin, join.begin() + end, static_cast<int>(count + begin));
    result = b_.CreateShuffleVector(result, piece, join);
  }
  return result;
}

}  // namespace deuteron::codegen
