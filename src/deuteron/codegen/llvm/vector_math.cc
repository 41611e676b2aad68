#include "deuteron/codegen/llvm/vector_math.h"

#include <algorithm>
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
  Member<Avx512Math> of_wide_float;  ///< null: as of any float
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
    {"tan", &FloatMath::Tan, nullptr, &DoubleMath::Tan},
    {"rsqrt", &FloatMath::Rsqrt, &Avx512Math::Rsqrt, &DoubleMath::Rsqrt},
};

/// Functions made of others, which are the same for all vectors.
struct DerivedRow {
  std::string_view name;
  Member<InverseMath> function;
};

constexpr DerivedRow kDerived[] = {
    {"asin", &InverseMath::Asin},   {"acos", &InverseMath::Acos},   {"atan", &InverseMath::Atan},
    {"sinh", &InverseMath::Sinh},   {"cosh", &InverseMath::Cosh},   {"asinh", &InverseMath::Asinh},
    {"acosh", &InverseMath::Acosh}, {"atanh", &InverseMath::Atanh}, {"log1p", &InverseMath::Log1p},
};

bool IsDouble(Value* x) { return x->getType()->getScalarType()->isDoubleTy(); }

}  // namespace

VectorMath::VectorMath(llvm::IRBuilderBase* builder, const Target& target)
    : b_(*builder),
      avx512_(target.HasFeature("avx512f") && target.machine.vector_bits >= 512),
      fused_(target.HasFeature("fma") || target.HasFeature("neon")),
      float_(builder),
      double_(builder),
      wide_(builder) {}

InverseMath VectorMath::Inverse(Value* x) { return {&b_, Find("exp", x), Find("log", x)}; }

VectorMath::Unary VectorMath::Find(std::string_view name, Value* x) {
  const auto is_named = [&](const auto& row) { return row.name == name; };
  const auto* derived = std::find_if(std::begin(kDerived), std::end(kDerived), is_named);
  if (derived != std::end(kDerived)) {
    return [this, derived](Value* v) {
      InverseMath math = Inverse(v);
      return (math.*derived->function)(v);
    };
  }
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows), is_named);
  if (row == std::end(kRows)) return nullptr;
  if (IsDouble(x)) return [this, row](Value* v) { return (double_.*row->of_double)(v); };
  if (!avx512_ || row->of_wide_float == nullptr) {
    return [this, row](Value* v) { return (float_.*row->of_float)(v); };
  }
  return [this, row](Value* v) {
    return InPieces(&b_, {v}, Avx512Math::kLanes,
                    [&](const std::vector<Value*>& piece) { return (wide_.*row->of_wide_float)(piece[0]); });
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
  return InPieces(&b_, {x, y}, Avx512Math::kLanes,
                  [this](const std::vector<Value*>& piece) { return wide_.Pow(piece[0], piece[1]); });
}

Value* VectorMath::Quotient(Value* x, Value* y) {
  Value* divisor = x->getType()->isVectorTy() ? llvm::getSplatValue(y) : nullptr;
  if (!fused_ || divisor == nullptr || !divisor->getType()->isFloatTy()) return b_.CreateFDiv(x, y);
  return float_.Quotient(x, divisor);
}

}  // namespace deuteron::codegen
